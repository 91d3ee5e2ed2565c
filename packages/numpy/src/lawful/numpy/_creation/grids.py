"""Numbers at equal ratios, and grids of coordinates."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, Tracer, as_dtype, get_aval, require_size, to_numpy
from lawful.numpy._creation.ranges import linspace, shape_of_ends
from lawful.numpy._dtypes import result_type
from lawful.numpy._eager import direct, is_plain
from lawful.numpy._integers import with_dtype
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.shape import moveaxis
from lawful.numpy._ufuncs.elementwise import log10, power
from lawful.ops import static_integers

__all__ = ["geomspace", "logspace", "meshgrid"]

# The relative error of powers of logarithms is less.
_ROUNDING = 2.0**-44


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Returns numbers at equal ratios, from ``base ** start`` to ``base ** stop``, both included.

    Args:
      start: the first exponent, or an array of them.
      stop: the last exponent, or an array of them.
      num: how many.
      endpoint: whether the last one is included.
      base: the base, or an array of them.
      dtype: the dtype of the result; by default the floating one that the arguments are promoted to.
        Numbers that are integers up to rounding become these integers, others are rounded towards 0.
      axis: the position of the new dimension in the result, if an argument is an array.

    Raises:
      ArgumentValueError: ``num`` is negative.

    >>> logspace(0, 2, 3)
    array([  1.,  10., 100.])

    Source: ``numpy.logspace``.
    """
    ndim = max(get_aval(x).ndim for x in (start, stop, base))
    if get_aval(base).ndim:
        start, stop, base = (_with_ndim(x, ndim) for x in (start, stop, base))
        base = ops.expand_dims(base, (axis,))
    powers = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else _converted(powers, as_dtype(dtype))


def _converted(x: Any, dtype: numpy.dtype[Any]) -> Any:
    """Returns numbers in a dtype; those that are integers up to rounding become these integers."""
    if dtype.kind in "iu" and get_aval(x).dtype.kind == "f":
        nearest = ops.round_nearest_even(x)
        x = ops.where(ops.le(abs(x - nearest), _ROUNDING * abs(x)), nearest, x)
    return ops.convert_element_type(x, dtype)


def _with_ndim(x: Any, ndim: int) -> Any:
    shape = get_aval(x).shape
    return ops.reshape(x, (1,) * (ndim - len(shape)) + shape)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Returns numbers at equal ratios, from ``start`` to ``stop``, both included.

    Args:
      start: the first number, not zero, or an array of them; complex numbers go along a spiral.
      stop: the last number, not zero, or an array of them.
      num: how many.
      endpoint: whether ``stop`` is included.
      dtype: the dtype of the result; by default float64, or complex128.
        Numbers that are integers up to rounding become these integers, others are rounded towards 0.
      axis: the position of the new dimension in the result, if an end is an array.

    Raises:
      ArgumentValueError: ``num`` is negative, or an end is zero where its value is known.

    >>> geomspace(1, 8, 4)
    array([1., 2., 4., 8.])

    Source: ``numpy.geomspace``.
    """
    shape_of_ends("geomspace", start, stop)
    if any(not isinstance(end, Tracer) and numpy.any(to_numpy(end) == 0) for end in (start, stop)):
        raise ArgumentValueError("geomspace: expected ends that are not zero, got a zero; leave it out")
    if is_plain(start, stop) and (dtype is None or as_dtype(dtype).kind not in "iu"):
        require_size((*static_integers("geomspace", "num", num),), numpy.dtype(numpy.float64))
        return numpy.geomspace(start, stop, num, endpoint, dtype, axis)
    first, last = ops.promote("geomspace", numpy.true_divide, (start, stop))
    wide = result_type(get_aval(first).dtype, numpy.float64)  # as in NumPy
    first, last = ops.convert_element_type(first, wide), ops.convert_element_type(last, wide)
    # Multiplied by a unit so that the first number is positive; undone at the end.
    sign = ops.sign(first)
    length, turned = ops.div(first, sign), ops.div(last, sign)
    numbers = logspace(log10(length), log10(turned), num, endpoint)
    count = get_aval(numbers).shape[0]
    if count:
        # Powers of logarithms are the ends only up to rounding.
        ends = [ops.expand_dims(length, (0,))]
        stop_at = count - 1 if endpoint and count > 1 else count
        ends.append(ops.slice_in_dim(numbers, 1, stop_at))
        if stop_at < count:
            ends.append(ops.expand_dims(turned, (0,)))
        numbers = ops.concatenate(ends, 0)
    numbers = ops.mul(numbers, sign)
    numbers = moveaxis(numbers, 0, axis) if axis else numbers
    return numbers if dtype is None else _converted(numbers, as_dtype(dtype))


_tuple_of_grids = inspect.unwrap(numpy.meshgrid)  # without NumPy's dispatch


def _numpy_meshgrid(*xi: Any, **options: Any) -> list[Any]:
    return list(_tuple_of_grids(*xi, **options) if options else _tuple_of_grids(*xi))


@direct(_numpy_meshgrid, arrays=None, names=("copy", "sparse", "indexing"))
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Returns the coordinates of the points of a grid: a list with an array for each vector of coordinates.

    Args:
      xi: a vector, or number, for each direction.
      copy: whether NumPy arrays are copied.
      sparse: whether each array has length 1 in the other directions, which broadcast.
      indexing: ``'xy'`` for the second direction first, as in a picture; ``'ij'`` for the order given.

    Raises:
      ArgumentValueError: ``indexing`` is another.

    >>> meshgrid(numpy.array([1, 2]), numpy.array([3, 4]))
    [array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]])]

    Source: ``numpy.meshgrid``, which returns a tuple; a list is the array API's.
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentValueError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}; give one of them")
    if is_plain(*xi):
        return list(numpy.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing))  # type: ignore[call-overload]
    xi = tuple(map(with_dtype, xi))
    dims = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        dims[:2] = 1, 0
    shape = [0] * len(xi)
    for x, dim in zip(xi, dims, strict=True):
        shape[dim] = get_aval(x).size
    grids = []
    for x, dim in zip(xi, dims, strict=True):
        size = get_aval(x).size
        grid = ops.reshape(x, [size if i == dim else 1 for i in range(len(xi))])
        grids.append(grid if sparse else broadcast_to(grid, tuple(shape)))
    return grids
