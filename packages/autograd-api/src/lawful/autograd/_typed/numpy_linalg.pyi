"""The names that `lawful.autograd.numpy.linalg` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from numpy.linalg import LinAlgError as LinAlgError

cholesky: Callable[..., Any]
cond: Callable[..., Any]
cross: Callable[..., Any]
det: Callable[..., Any]
diagonal: Callable[..., Any]
eig: Callable[..., Any]
eigh: Callable[..., Any]
eigvals: Callable[..., Any]
eigvalsh: Callable[..., Any]
inv: Callable[..., Any]
lstsq: Callable[..., Any]
matmul: Callable[..., Any]
matrix_norm: Callable[..., Any]
matrix_power: Callable[..., Any]
matrix_rank: Callable[..., Any]
matrix_transpose: Callable[..., Any]
multi_dot: Callable[..., Any]
norm: Callable[..., Any]
outer: Callable[..., Any]
pinv: Callable[..., Any]
qr: Callable[..., Any]
slogdet: Callable[..., Any]
solve: Callable[..., Any]
svd: Callable[..., Any]
svdvals: Callable[..., Any]
tensordot: Callable[..., Any]
tensorinv: Callable[..., Any]
tensorsolve: Callable[..., Any]
test: Any
trace: Callable[..., Any]
vecdot: Callable[..., Any]
vector_norm: Callable[..., Any]
