"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._reductions import reductions as reduction
from lawful.numpy.linalg._decompositions import svd
from lawful.numpy.linalg._matrices import LinAlgError, by_numpy, check_stack, inexact
from lawful.numpy.linalg._solving import solve_or_nan


@by_numpy(numpy.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Returns the norms of vectors or matrices.

    Args:
      x: an array.
      ord: of vectors any number, ``inf`` or ``-inf``; of matrices 1, -1, 2, -2, ``inf``, ``-inf``, ``"fro"`` or
        ``"nuc"``; None for the root of the sum of squares.
      axis: the dimension of vectors, or the two of matrices; by default all of them.
      keepdims: whether the dimensions stay, with length 1.

    Raises:
      ArgumentValueError: there is no such norm.
      AxisError: there is no such dimension.

    >>> norm(numpy.array([3.0, 4.0])), norm(numpy.eye(4), "nuc")
    (np.float64(5.0), np.float64(4.0))

    Source: ``numpy.linalg.norm``.
    """
    (x,) = inexact("norm", x, linear_algebra=False)
    ndim = get_aval(x).ndim
    if axis is None:
        axes = tuple(range(ndim))
        if ord is None:
            return _root_of_squares(x, axes, keepdims)
    else:
        axes = ops.canonical_axes("norm", axis if isinstance(axis, tuple | list) else (axis,), ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ArgumentValueError(
        f"norm: expected vectors or matrices, got {len(axes)} dimensions of {get_aval(x)}; give one or two as axis"
    )


def _root_of_squares(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    squares = ops.real(x) ** 2 + ops.imag(x) ** 2 if get_aval(x).dtype.kind == "c" else x * x
    return ops.sqrt(reduction.sum(squares, axis=axes, keepdims=keepdims))


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ArgumentValueError(f"norm: expected a number as ord of vectors, got {ord!r}; give axis for matrices")
    if ord is None or ord == 2:
        return _root_of_squares(x, axes, keepdims)
    size = ops.abs(x)
    dtype = get_aval(size).dtype
    if ord == numpy.inf:
        return reduction.max(size, axis=axes, keepdims=keepdims, initial=dtype.type(0))
    if ord == -numpy.inf:
        return reduction.min(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        nonzero = ops.convert_element_type(ops.ne(x, get_aval(x).dtype.type(0)), dtype)
        return reduction.sum(nonzero, axis=axes, keepdims=keepdims)
    if ord == 1:
        return reduction.sum(size, axis=axes, keepdims=keepdims)
    if not isinstance(ord, int | float | numpy.number):
        raise ArgumentTypeError(f"norm: expected a static number as ord, got {ord!r}; write the norm out")
    total = reduction.sum(ops.pow(size, float(ord)), axis=axes, keepdims=keepdims)
    return ops.pow(total, 1.0 / float(ord))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    row, column = axes
    extremum = reduction.max if ord in (1, 2, numpy.inf, "nuc") else reduction.min
    initial: dict[str, Any] = {} if extremum is reduction.min else {"initial": 0}
    if ord in (None, "fro", "f"):
        return _root_of_squares(x, axes, keepdims)
    if ord in (1, -1, numpy.inf, -numpy.inf):
        added, other = (row, column) if ord in (1, -1) else (column, row)
        sums = reduction.sum(ops.abs(x), axis=added, keepdims=True)
        out = extremum(sums, axis=other, keepdims=True, **initial)
    elif ord in (2, -2, "nuc"):
        ndim = get_aval(x).ndim
        remaining = [axis for axis in range(ndim) if axis not in axes]
        s = svd(ops.transpose(x, (*remaining, row, column)), compute_uv=False)
        out = reduction.sum(s, axis=-1) if ord == "nuc" else extremum(s, axis=-1, **initial)
        out = ops.expand_dims(out, tuple(sorted(axes)))
    else:
        raise ArgumentValueError(
            f"norm: expected ord of matrices to be 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc', got {ord!r}; use one"
        )
    return out if keepdims else ops.squeeze(out, axes)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Returns the norms of vectors, over any dimensions.

    Args:
      x: an array.
      axis: the dimensions whose elements are one vector; by default all.
      keepdims: whether these stay, with length 1.
      ord: any number, ``inf`` or ``-inf``.

    Raises:
      ArgumentValueError: ``ord`` is not a number.
      AxisError: there is no such dimension.

    >>> vector_norm(numpy.array([[3.0], [4.0]]))
    np.float64(5.0)

    Source: ``numpy.linalg.vector_norm``.
    """
    (x,) = inexact("vector_norm", x, linear_algebra=False)
    ndim = get_aval(x).ndim
    if axis is None:
        axes = tuple(range(ndim))
    else:
        axes = ops.canonical_axes("vector_norm", axis if isinstance(axis, tuple | list) else (axis,), ndim)
    return _vector_norm(x, ord, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Returns the norms of the matrices in the last two dimensions; ``ord`` is that of :func:`norm`.

    Raises:
      AxisError: the array has fewer than two dimensions.
      ArgumentValueError: there is no such norm.

    >>> matrix_norm(numpy.ones((2, 2)))
    np.float64(2.0)

    Source: ``numpy.linalg.matrix_norm``.
    """
    return norm(x, ord, ops.canonical_axes("matrix_norm", (-2, -1), get_aval(x).ndim), keepdims)


@by_numpy(numpy.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """Returns the condition numbers of matrices: the product of the norms of the matrix and of its inverse.

    Args:
      x: an array of shape (…, m, n); square ones unless ``p`` is None, 2 or -2.
      p: which norm, as in :func:`norm`; None is 2.

    Raises:
      LinAlgError: the array has fewer than two dimensions, no elements, or the matrices are not square.

    A singular matrix gives infinity.

    >>> cond(numpy.array([[1.0, 0.0], [0.0, 2.0]]))
    np.float64(2.0)

    Source: ``numpy.linalg.cond``.
    """
    check_stack("cond", x)
    (x,) = inexact("cond", x)
    aval = get_aval(x)
    if 0 in aval.shape[-2:]:
        raise LinAlgError(f"cond: expected matrices with elements, got the shape {aval.shape}; an empty one has none")
    if p is None or p in (2, -2):
        s = svd(x, compute_uv=False)
        largest, smallest = s[..., 0], s[..., -1]
        with numpy.errstate(all="ignore"):
            out = smallest / largest if p == -2 else largest / smallest
    else:
        check_stack("cond", x, square=True)
        ones = ops.eq(*(ops.broadcasted_iota("int64", aval.shape, aval.ndim - dim) for dim in (2, 1)))
        inverse = solve_or_nan(x, ops.convert_element_type(ones, aval.dtype))
        out = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    unknown = ops.bitwise_and(ops.ne(out, out), ops.bitwise_not(reduction.any(ops.ne(x, x), axis=(-2, -1))))
    return ops.where(unknown, get_aval(out).dtype.type(numpy.inf), out)
