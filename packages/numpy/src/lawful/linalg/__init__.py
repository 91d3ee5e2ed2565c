"""Linear algebra with the names and arguments of ``scipy.linalg``.

>>> import lawful.numpy as np
>>> from lawful.linalg import cho_factor, cho_solve
>>> cho_solve(cho_factor(np.array([[4.0, 2.0], [2.0, 3.0]])), np.array([2.0, 1.0]))
array([0.5, 0. ])
"""

from lawful.linalg._equations import funm, solve_sylvester, sqrtm
from lawful.linalg._factorizations import (
    cho_factor,
    cho_solve,
    cholesky,
    eigh,
    eigh_tridiagonal,
    lu,
    lu_factor,
    lu_solve,
    polar,
    qr,
    qr_multiply,
    solve,
    solve_triangular,
    svd,
)
from lawful.linalg._functions import expm, expm_frechet
from lawful.linalg._gmres import gmres
from lawful.linalg._iterative import bicgstab, cg
from lawful.linalg._qdwh import qdwh
from lawful.linalg._schur import hessenberg, rsf2csf, schur
from lawful.linalg._structured import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    leslie,
    pascal,
    toeplitz,
)
from lawful.linalg._updates import cholesky_update
from lawful.numpy.linalg import det, inv

__all__ = [
    "bicgstab",
    "block_diag",
    "cg",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cholesky_update",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "gmres",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "leslie",
    "lu",
    "lu_factor",
    "lu_solve",
    "pascal",
    "polar",
    "qdwh",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]
