"""The indices of arrays: of all elements, of triangles and diagonals, as grids, and as positions in a flat order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Tracer,
    as_dtype,
    eval_trace,
    get_aval,
    set_current,
    to_numpy,
)
from lawful.numpy._indexing.elements import nonzero
from lawful.ops import static_integers

# fmt: off
__all__ = [
    "diag_indices", "diag_indices_from", "fromfunction", "indices", "ix_", "mask_indices", "ravel_multi_index",
    "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index",
]
# fmt: on


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Returns the indices of all elements of an array: for each dimension a grid of positions.

    Args:
      dimensions: the shape of the array.
      dtype: that of the indices.
      sparse: whether each grid has length 1 in the other dimensions, which broadcast; then they are a tuple.

    Raises:
      ArgumentTypeError: the lengths are no integers.

    >>> indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])

    Source: ``numpy.indices``.
    """
    shape, dtype = static_integers("indices", "dimensions", dimensions), as_dtype(dtype)
    if sparse:
        return tuple([along(ops.iota(dtype, size), dim, len(shape)) for dim, size in enumerate(shape)])
    grids = [ops.broadcasted_iota(dtype, (1, *shape), dim + 1) for dim in range(len(shape))]
    return ops.concatenate(grids, 0) if grids else ops.full((0,), 0, dtype)


def along(x: Any, dim: int, ndim: int) -> Any:
    """Returns a vector along one of several dimensions; the others have length 1."""
    return ops.reshape(x, [-1 if i == dim else 1 for i in range(ndim)])


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """Returns what a function gives for the indices of an array: a grid of positions in each dimension.

    Args:
      function: a function of as many arrays as there are dimensions.
      shape: that of the array.
      dtype: that of the positions.
      like: accepted, without effect.
      kwargs: more arguments of the function.

    >>> fromfunction(lambda i, j: i == j, (2, 2), dtype=int)
    array([[ True, False],
           [False,  True]])

    Source: ``numpy.fromfunction``.
    """
    shape = static_integers("fromfunction", "shape", shape)
    grids = [ops.broadcasted_iota(as_dtype(dtype), shape, dim) for dim in range(len(shape))]
    return function(*grids, **kwargs)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Returns vectors of positions, each along a dimension of its own: they choose all combinations.

    Args:
      args: integers, which may be traced, or masks, which have to be known.

    Raises:
      ArgumentValueError: one is not a vector.

    >>> numpy.arange(9).reshape(3, 3)[ix_(numpy.array([0, 2]), numpy.array([True, False, True]))]
    array([[0, 2],
           [6, 8]])

    Source: ``numpy.ix_``.
    """
    grids = []
    for i, x in enumerate(args):
        x = numpy.asarray(x) if isinstance(x, list | tuple | range) else x
        aval = get_aval(x)
        if aval.ndim != 1:
            raise ArgumentValueError(f"ix_: expected vectors, got {aval} as number {i}; ravel it")
        if aval.dtype.kind == "b":
            (x,) = nonzero(x)
        elif not aval.size:
            x = ops.convert_element_type(x, numpy.int64)
        grids.append(along(x, i, len(args)))
    return tuple(grids)


# Triangles and diagonals


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Returns the indices of a matrix on a diagonal and below it.

    Args:
      n: the number of rows.
      k: the diagonal: 0 for the main one, positive above it, negative below it.
      m: the number of columns; by default that of rows.

    >>> tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))

    Source: ``numpy.tril_indices``.
    """
    rows, k, columns = static_integers("tril_indices", "n, k and m", (n, k, n if m is None else m))
    return numpy.tril_indices(rows, k, columns)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Returns the indices of a matrix on a diagonal and above it; arguments are those of `tril_indices`.

    >>> triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows, k, columns = static_integers("triu_indices", "n, k and m", (n, k, n if m is None else m))
    return numpy.triu_indices(rows, k, columns)


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    aval = get_aval(arr)
    if aval.ndim != 2:
        raise ArgumentValueError(f"{name}: expected a matrix, got {aval}; reshape it")
    return aval.shape[0], aval.shape[1]


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Returns the indices of a given matrix on a diagonal and below it, as `tril_indices`.

    Raises:
      ArgumentValueError: it is not a matrix.

    >>> tril_indices_from(numpy.ones((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Returns the indices of a given matrix on a diagonal and above it, as `triu_indices`.

    Raises:
      ArgumentValueError: it is not a matrix.

    >>> triu_indices_from(numpy.ones((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """Returns the indices of the main diagonal of an array whose dimensions all have the length ``n``.

    >>> diag_indices(3)
    (array([0, 1, 2]), array([0, 1, 2]))

    Source: ``numpy.diag_indices``.
    """
    n, ndim = static_integers("diag_indices", "n and ndim", (n, ndim))
    return (numpy.arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Returns the indices of the main diagonal of a given array.

    Raises:
      ArgumentValueError: it has fewer than two dimensions, or they have different lengths.

    >>> diag_indices_from(numpy.ones((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    shape = get_aval(arr).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ArgumentValueError(
            f"diag_indices_from: expected at least two dimensions of one length, got the shape {shape}; slice it"
        )
    return diag_indices(shape[0], len(shape))


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0, *, size: int | None = None) -> tuple[Any, ...]:
    """Returns the indices at which a function of a matrix of ones, such as `triu`, is not zero.

    Args:
      n: the number of rows and columns.
      mask_func: ``mask_func(ones, k)``.
      k: its second argument.
      size: how many indices are given; it has to be known where ``k`` is traced.

    >>> mask_indices(2, numpy.triu)
    (array([0, 0, 1]), array([0, 1, 1]))

    Source: ``numpy.mask_indices``, ``jax.numpy.mask_indices``.
    """
    (n,) = static_integers("mask_indices", "n", n)
    if isinstance(k, Tracer):
        return nonzero(mask_func(numpy.ones((n, n), int), k), size=size)
    with set_current(eval_trace):  # the mask is evaluated, also while a program is recorded
        return nonzero(mask_func(numpy.ones((n, n), int), k), size=size)


# Flat positions


def _check_order(name: str, order: str) -> None:
    if order not in ("C", "F"):
        raise ArgumentValueError(f"{name}: expected order='C' or 'F', got {order!r}; give one of them")


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Returns positions in a flattened array as indices of the array.

    Args:
      indices: integers, which may be traced; those outside of the array are brought to its end then.
      shape: that of the array.
      order: ``'C'`` where the last dimension comes first in the flat order, ``'F'`` where the first one does.

    Raises:
      ArgumentValueError: a known position is outside of the array.
      ArgumentTypeError: they are no integers.

    >>> unravel_index(numpy.array([4, 5]), (2, 3))
    (array([1, 1]), array([1, 2]))

    Source: ``numpy.unravel_index``.
    """
    _check_order("unravel_index", order)
    shape, aval = static_integers("unravel_index", "shape", shape), get_aval(indices)
    if aval.dtype.kind not in "iu":
        raise ArgumentTypeError(f"unravel_index: expected integers, got {aval}; convert with astype")
    size = math.prod(shape)
    if not isinstance(indices, Tracer):
        known = to_numpy(indices)
        if numpy.any((known < 0) | (known >= size)):
            raise ArgumentValueError(f"unravel_index: expected positions from 0 to {size - 1}, got {indices!r:.60}")
        positions: tuple[Any, ...] = numpy.unravel_index(known, shape, order)  # type: ignore[call-overload]
        return positions
    rest = ops.clamp(0, ops.convert_element_type(indices, numpy.int64), max(size - 1, 0))
    found: list[Any] = []
    for length in reversed(shape) if order == "C" else shape:
        found.append(ops.remainder(rest, max(length, 1)))
        rest = ops.floor_divide(rest, max(length, 1))
    return tuple(reversed(found) if order == "C" else found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Returns indices of an array as positions in the flattened array.

    Args:
      multi_index: for each dimension integers, which may be traced; they broadcast.
      dims: the shape of the array.
      mode: the treatment of positions outside: ``'raise'``, of those that are known; ``'clip'`` takes the nearest,
        ``'wrap'`` counts on from the other end. One for all dimensions, or one for each. Traced ones are clipped
        where they are to raise.
      order: ``'C'`` where the last dimension comes first in the flat order, ``'F'`` where the first one does.

    Raises:
      ArgumentValueError: a known position is outside of the array, there are not as many as dimensions, or there is
        no such mode.
      ArgumentTypeError: they are no integers.

    >>> ravel_multi_index((numpy.array([1, 1]), numpy.array([1, 2])), (2, 3))
    array([4, 5])

    Source: ``numpy.ravel_multi_index``.
    """
    name = "ravel_multi_index"
    _check_order(name, order)
    shape = static_integers(name, "dims", dims)
    given = list(multi_index) if isinstance(multi_index, list | tuple) else [multi_index[i] for i in range(len(shape))]
    modes = list(mode) if isinstance(mode, list | tuple) else [mode] * len(shape)
    if len(given) != len(shape) or len(modes) != len(shape):
        raise ArgumentValueError(
            f"{name}: expected positions and modes for each of {len(shape)} dimensions, got {len(given)} and "
            f"{len(modes)}; give as many"
        )
    inside = [_inside(name, x, size, how) for x, size, how in zip(given, shape, modes, strict=True)]
    positions = [ops.convert_element_type(x, numpy.int64) for x in inside]
    flat: Any = 0
    steps = list(zip(positions, shape, strict=True))
    for position, size in steps if order == "C" else reversed(steps):
        flat = ops.add(ops.mul(flat, size), position)
    return flat


def _inside(name: str, x: Any, size: int, mode: str) -> Any:
    x = numpy.asarray(x) if isinstance(x, list | tuple) else x
    aval = get_aval(x)
    if aval.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected integers, got {aval}; convert with astype")
    if mode == "wrap":
        return ops.remainder(ops.convert_element_type(x, numpy.int64), size)
    if mode not in ("raise", "clip"):
        raise ArgumentValueError(f"{name}: expected mode='raise', 'clip' or 'wrap', got {mode!r}; choose one")
    if mode == "raise" and not isinstance(x, Tracer):
        known = to_numpy(x)
        if numpy.any((known < 0) | (known >= size)):
            raise ArgumentValueError(f"{name}: expected positions from 0 to {size - 1}, got {x!r:.60}; choose a mode")
        return x
    return ops.clamp(0, ops.convert_element_type(x, numpy.int64), max(size - 1, 0))
