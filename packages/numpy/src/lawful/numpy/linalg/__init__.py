"""Linear algebra with the names, arguments and promotion of ``numpy.linalg``: functions that differentiate and compile.

It has all of the array API's extension ``linalg``. An array of more than two dimensions is a stack of matrices.

>>> import numpy
>>> from lawful.autodiff import grad
>>> grad(det)(numpy.array([[2.0, 1.0], [1.0, 3.0]]))
array([[ 3., -1.],
       [-1.,  2.]])

Where nothing is traced, NumPy's errors about values are raised: `inv` of a singular matrix. Traced or compiled, such a
matrix gives NaN or infinity.
"""

import numpy as _numpy
from lawful.numpy.linalg._decompositions import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from lawful.numpy.linalg._determinants import SlogdetResult, det, slogdet
from lawful.numpy.linalg._least_squares import lstsq, matrix_rank, pinv
from lawful.numpy.linalg._matrices import LinAlgError
from lawful.numpy.linalg._norms import cond, matrix_norm, norm, vector_norm
from lawful.numpy.linalg._products import (
    cross,
    diagonal,
    matmul,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from lawful.numpy.linalg._solving import inv, matrix_power, solve, tensorinv, tensorsolve
from lawful.ops import register_numpy_functions as _register_numpy_functions

__all__ = [
    "LinAlgError",
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "solve",
    "inv",
    "det",
    "slogdet",
    "matrix_power",
    "matrix_rank",
    "pinv",
    "lstsq",
    "tensorsolve",
    "tensorinv",
    "cholesky",
    "qr",
    "svd",
    "svdvals",
    "eigh",
    "eigvalsh",
    "eig",
    "eigvals",
    "norm",
    "vector_norm",
    "matrix_norm",
    "cond",
    "multi_dot",
    "cross",
    "outer",
    "tensordot",
    "vecdot",
    "matmul",
    "trace",
    "diagonal",
    "matrix_transpose",
]

_register_numpy_functions({getattr(_numpy.linalg, name): globals()[name] for name in __all__ if name[0].islower()})
