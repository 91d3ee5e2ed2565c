"""Functions of matrices: those that SciPy computes, with derivatives, and lawful's under SciPy's arguments.

The derivatives follow from the equations ``S S = A``, ``A X + X B = Q`` and ``A x = b``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.autograd._primitive.function import primitive
from lawful.autograd._primitive.rules import defjvp, defjvp_argnums, defvjp, defvjp_argnums
from lawful.autograd._scipy.library import scipy_function

Function = Callable[..., Any]

_SQRTM = """Returns the square root of a matrix.

>>> import numpy as np
>>> from lawful.autograd.scipy.linalg import sqrtm
>>> sqrtm(np.diag([4.0, 9.0])).round(3)
array([[2., 0.],
       [0., 3.]])
"""

_SOLVE_SYLVESTER = """Returns the solution X of the equation A X + X B = Q.

>>> import numpy as np
>>> from lawful.autograd.scipy.linalg import solve_sylvester
>>> solve_sylvester(np.eye(2), np.eye(2), np.diag([2.0, 4.0])).round(3)
array([[1., 0.],
       [0., 2.]])
"""

_SOLVE_BANDED = """Returns the solution x of the equation A x = b, for a matrix stored by its diagonals.

>>> import numpy as np
>>> from lawful.autograd.scipy.linalg import solve_banded
>>> solve_banded((0, 0), np.array([[2.0, 4.0]]), np.array([1.0, 1.0]))
array([0.5 , 0.25])
"""

sqrtm = primitive(scipy_function("linalg", "sqrtm", _SQRTM))
solve_sylvester = primitive(scipy_function("linalg", "solve_sylvester", _SOLVE_SYLVESTER))
solve_banded = primitive(scipy_function("linalg", "solve_banded", _SOLVE_BANDED))

defjvp(sqrtm, lambda g, ans, a, *_, **__: solve_sylvester(ans, ans, g))


def _sylvester_jvp(argnums: Sequence[int], gs: Sequence[Any], x: Any, args: Sequence[Any], kwargs: Any) -> Any:
    dots = dict(zip(argnums, gs, strict=True))
    rhs = dots.get(2, 0.0)
    if 0 in dots:
        rhs = rhs - dots[0] @ x
    if 1 in dots:
        rhs = rhs - x @ dots[1]
    return solve_sylvester(args[0], args[1], rhs)


def _sylvester_vjp(argnums: Sequence[int], x: Any, args: Sequence[Any], kwargs: Any) -> Function:
    a, b = args[0], args[1]

    def pull_back(g: Any) -> list[Any]:
        w = solve_sylvester(a.T, b.T, g)
        return [(-w @ x.T, -x.T @ w, w)[argnum] for argnum in argnums]

    return pull_back


defjvp_argnums(solve_sylvester, _sylvester_jvp)
defvjp_argnums(solve_sylvester, _sylvester_vjp)


# A banded matrix is stored by diagonals: A[i, j] is ab[u + i - j, j].


def _shifted(x: Any, by: int) -> Any:
    """Returns an array whose element ``i`` along the first dimension is ``x[i + by]``, or 0 where there is none."""
    size = np.shape(x)[0]
    by = max(-size, min(by, size))
    zeros = np.zeros((abs(by), *np.shape(x)[1:]))
    return np.concatenate([x[by:], zeros] if by > 0 else [zeros, x[: size + by]])


def _diagonals(l_and_u: Sequence[int], w: Any, x: Any) -> Any:
    """Returns the diagonals of the matrix ``w xᵀ``."""
    lower, upper = l_and_u
    x = np.reshape(x, (np.shape(x)[0], -1))
    w = np.reshape(w, x.shape)
    return np.stack([np.sum(_shifted(w, k - upper) * x, axis=1) for k in range(lower + upper + 1)])


def _transposed(l_and_u: Sequence[int], ab: Any) -> tuple[tuple[int, int], Any]:
    """Returns the numbers of diagonals of the transpose, and its diagonals."""
    lower, upper = l_and_u
    return (upper, lower), np.stack([_shifted(ab[lower + upper - k], k - lower) for k in range(lower + upper + 1)])


def _product(l_and_u: Sequence[int], ab: Any, x: Any) -> Any:
    """Returns the product of a banded matrix and a vector or matrix."""
    lower, upper = l_and_u
    factor = (-1, *[1] * (np.ndim(x) - 1))
    return sum([_shifted(np.reshape(ab[k], factor) * x, upper - k) for k in range(lower + upper + 1)])


def _banded_vjp_matrix(ans: Any, l_and_u: Sequence[int], ab: Any, b: Any, **kwargs: Any) -> Function:
    return lambda g: -_diagonals(l_and_u, solve_banded(*_transposed(l_and_u, ab), g), ans)


defvjp(
    solve_banded,
    None,
    _banded_vjp_matrix,
    lambda ans, l_and_u, ab, b, **_: lambda g: solve_banded(*_transposed(l_and_u, ab), g),
)
defjvp(
    solve_banded,
    None,
    lambda g, ans, l_and_u, ab, b, **_: -solve_banded(l_and_u, ab, _product(l_and_u, g, ans)),
    lambda g, ans, l_and_u, ab, b, **_: solve_banded(l_and_u, ab, g),
)


# Lawful's, with SciPy's arguments


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, **_: Any
) -> Any:
    """Returns the solution of a system with a triangular matrix.

    Args:
      a: a square matrix, of which the other triangle is not read.
      b: a vector, or a matrix of columns.
      trans: 0 or "N" for ``a x = b``, 1 or "T" for the transpose of ``a``, 2 or "C" for the conjugate of that.
      lower: whether the lower triangle is used.
      unit_diagonal: whether the diagonal is taken to be ones.

    SciPy's other arguments, about checks and memory, have no effect.
    """
    a, b = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a, b, float)
    column = b if b.ndim > 1 else b[:, None]
    x = ops.triangular_solve(
        np.astype(a, dtype),
        np.astype(column, dtype),
        left_side=True,
        lower=lower,
        transpose_a=trans not in (0, "N"),
        conjugate_a=trans in (2, "C"),
        unit_diagonal=unit_diagonal,
    )
    return x if b.ndim > 1 else x[:, 0]


def cholesky(a: Any, lower: bool = False, **_: Any) -> Any:
    """Returns the triangular factor of a positive definite matrix, by default the upper one."""
    factor = np.linalg.cholesky(np.asarray(a))
    return factor if lower else np.conj(np.matrix_transpose(factor))


def _without_settings(function: Function, count: int) -> Function:
    """Returns a function of matrices that takes SciPy's arguments about checks and memory, which have no effect."""

    def of_matrices(*args: Any, **_: Any) -> Any:
        return function(*map(np.asarray, args[:count]))

    of_matrices.__doc__ = function.__doc__
    return of_matrices


#: Functions of traced matrices, by name; SciPy, where it is installed, computes values.
of_tracers = {
    "solve_triangular": solve_triangular,
    "cholesky": cholesky,
    "inv": _without_settings(np.linalg.inv, 1),
    "det": _without_settings(np.linalg.det, 1),
    "solve": _without_settings(np.linalg.solve, 2),
}
#: The functions of SciPy's that have derivatives here.
functions = {"sqrtm": sqrtm, "solve_sylvester": solve_sylvester, "solve_banded": solve_banded}
