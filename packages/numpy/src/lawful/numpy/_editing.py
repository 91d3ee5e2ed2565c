"""Arrays with elements inserted, dropped, appended or repeated at static positions."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    Tracer,
    get_aval,
)
from lawful.numpy._broadcasting import broadcast_to
from lawful.numpy._eager import is_plain
from lawful.numpy._manipulation import moveaxis, ravel
from lawful.numpy._pieces import pieces
from lawful.ops import canonical_axis


def _static(name: str, obj: Any) -> Any:
    """Returns positions that are known, as NumPy takes them."""
    if isinstance(obj, Tracer):
        obj.__array__()  # raises
    return obj


def _flat(name: str, arr: Any, axis: Any) -> tuple[Any, int]:
    if axis is None:
        return ravel(arr), 0
    return arr, canonical_axis(name, axis, get_aval(arr).ndim)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Returns an array with values after it, promoted to one dtype.

    Args:
      arr: an array.
      values: an array, of a shape that is equal but for the dimension.
      axis: the dimension; None joins the flattened arrays.

    Raises:
      ArgumentValueError: the shapes do not fit.
      AxisError: there is no such dimension.

    >>> append(numpy.array([1, 2]), numpy.array([[3]]))
    array([1, 2, 3])

    Source: ``numpy.append``.
    """
    if axis is None:
        return ops.concatenate([ravel(arr), ravel(values)], 0)
    return ops.concatenate([arr, values], axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Returns an array without some elements.

    Args:
      arr: an array.
      obj: the positions: an integer, a slice, integers or a mask, which have to be known, not traced.
      axis: the dimension; by default the array is flattened.

    Raises:
      ArgumentIndexError: there is no such position.
      AxisError: there is no such dimension.

    >>> delete(numpy.array([1, 2, 3]), 1)
    array([1, 3])

    Source: ``numpy.delete``.
    """
    arr, axis = _flat("delete", arr, axis)
    obj = _static("delete", obj)
    try:
        kept = numpy.delete(numpy.arange(get_aval(arr).shape[axis]), obj)
    except (IndexError, ValueError) as error:
        kind = ArgumentIndexError if isinstance(error, IndexError) else ArgumentValueError
        raise kind(
            f"delete: expected positions along a dimension of {get_aval(arr)}, got {obj!r:.60}; {error}"
        ) from error
    return pieces(arr, kept, axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Returns an array with values inserted, converted to its dtype.

    Args:
      arr: an array.
      obj: before which positions: an integer, a slice, integers or a mask, which have to be known, not traced.
      values: the values, which are broadcast.
      axis: the dimension; by default the array is flattened.

    Raises:
      ArgumentIndexError: there is no such position.
      ArgumentValueError: the values do not fit.
      AxisError: there is no such dimension.

    >>> insert(numpy.array([1, 2, 3]), 1, 5)
    array([1, 5, 2, 3])

    Source: ``numpy.insert``.
    """
    arr, axis = _flat("insert", arr, axis)
    aval = get_aval(arr)
    size = aval.shape[axis]
    obj = _static("insert", obj)
    values = ops.convert_element_type(values, aval.dtype)
    try:
        count = numpy.insert(numpy.arange(size), obj, 0).size - size
        is_scalar, is_one = numpy.ndim(obj) == 0 and not isinstance(obj, slice), count == 1
        if is_scalar or (is_one and not isinstance(obj, slice)):
            values = _with_ndim(values, aval.ndim)
            values = moveaxis(values, 0, axis) if is_scalar else values
            count = get_aval(values).shape[axis]
            obj = int(numpy.flatnonzero(numpy.insert(numpy.zeros(size), obj, 1))[0])
        positions = numpy.insert(numpy.arange(size), obj, numpy.arange(size, size + count))
    except (IndexError, ValueError) as error:
        kind = ArgumentIndexError if isinstance(error, IndexError) else ArgumentValueError
        raise kind(f"insert: expected positions along a dimension of {aval}, got {obj!r:.60}; {error}") from error
    wanted = (*aval.shape[:axis], count, *aval.shape[axis + 1 :])
    try:
        numpy.broadcast_to(numpy.empty(get_aval(values).shape, numpy.int8), wanted)
    except ValueError as error:
        raise ArgumentValueError(
            f"insert: expected values that broadcast to {wanted}, got {get_aval(values)}; reshape them"
        ) from error
    both = ops.concatenate([arr, broadcast_to(values, wanted)], axis)
    return pieces(both, positions, axis)


def _with_ndim(x: Any, ndim: int) -> Any:
    shape = get_aval(x).shape
    return ops.reshape(x, (1,) * (ndim - len(shape)) + shape)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Returns the array with each element repeated.

    Args:
      a: an array.
      repeats: how often: a static integer, or one for each element along the dimension.
      axis: the dimension along which they are repeated; by default along the flattened array.

    Raises:
      ArgumentTypeError: ``repeats`` are no integers.
      ArgumentValueError: one is negative, or there are not as many as elements.
      AxisError: there is no such dimension.

    >>> repeat(numpy.array([[1, 2]]), 2, axis=1)
    array([[1, 1, 2, 2]])

    Source: ``numpy.repeat``.
    """
    a, axis = _flat("repeat", a, axis)
    shape = get_aval(a).shape
    times = numpy.asarray(_static("repeat", repeats))
    if times.dtype.kind not in "iub" or times.ndim > 1:
        raise ArgumentTypeError(f"repeat: expected integers as repeats, got {repeats!r:.60}; give how often")
    if numpy.any(times < 0) or times.size not in (1, shape[axis]):
        raise ArgumentValueError(
            f"repeat: expected a number that is not negative for each of {shape[axis]} elements, or one for all, got "
            f"{repeats!r:.60}; correct it"
        )
    if is_plain(a):
        return numpy.repeat(a, times, axis)
    if times.size != 1:
        return pieces(a, numpy.repeat(numpy.arange(shape[axis]), times), axis)
    wide = (*shape[: axis + 1], times.item(), *shape[axis + 1 :])
    repeated = ops.broadcast_in_dim(a, wide, [dim for dim in range(len(wide)) if dim != axis + 1])
    return ops.reshape(repeated, (*shape[:axis], shape[axis] * times.item(), *shape[axis + 1 :]))
