"""The names that `lawful.jax.lax.linalg` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

cholesky: Callable[..., Any]
cholesky_p: Any
cholesky_update: Callable[..., Any]
eig: Callable[..., Any]
eig_p: Any
eigh: Callable[..., Any]
eigh_p: Any
hessenberg: Callable[..., Any]
hessenberg_p: Any
householder_product: Callable[..., Any]
lu: Callable[..., Any]
lu_p: Any
lu_pivots_to_permutation: Callable[..., Any]
lu_pivots_to_permutation_p: Any
ormqr: Callable[..., Any]
qdwh: Callable[..., Any]
qr: Callable[..., Any]
qr_p: Any
schur: Callable[..., Any]
schur_p: Any
svd: Callable[..., Any]
svd_p: Any
symmetric_product: Callable[..., Any]
triangular_solve: Callable[..., Any]
triangular_solve_p: Any
tridiagonal: Callable[..., Any]
tridiagonal_p: Any
tridiagonal_solve: Callable[..., Any]
tridiagonal_solve_p: Any
