"""Arrays with elements inserted, dropped, appended or repeated at static positions."""

from __future__ import annotations

from typing import Any

import lawful.numpy
import numpy
from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    ConcretizationTypeError,
    Tracer,
    TracerArrayConversionError,
    get_aval,
    require_size,
    to_numpy,
)
from lawful.numpy._eager import direct, is_plain
from lawful.numpy._integers import with_dtype
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.pieces import pieces
from lawful.numpy._manipulation.shape import moveaxis, ravel
from lawful.ops import canonical_axes, canonical_axis, is_axis_of_scalar, static_integers

__all__ = ["repeat", "append", "delete", "insert", "trim_zeros"]


def _static(name: str, obj: Any) -> Any:
    """Returns static positions for NumPy; raises for tracers."""
    if isinstance(obj, Tracer):
        raise TracerArrayConversionError(
            f"{name}: expected known positions, got {obj!r}, on which the length of the result depends; make the "
            "argument static (static_argnums of jit)"
        )
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
    arr, values = with_dtype(arr), with_dtype(values)
    if axis is None:
        return ops.concatenate([ravel(arr), ravel(values)], 0)
    return ops.concatenate([arr, values], axis)


def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """Returns an array without some elements.

    Args:
      arr: an array.
      obj: the positions: an integer, a slice, integers or a mask. An integer may be traced; what else is traced, only
        integers of ``assume_unique_indices``.
      axis: the dimension; by default the array is flattened.
      assume_unique_indices: whether traced positions differ from each other.

    Raises:
      ArgumentIndexError: there is no such position.
      AxisError: there is no such dimension.

    >>> delete(numpy.array([1, 2, 3]), 1)
    array([1, 3])

    Source: ``numpy.delete``.
    """
    arr, axis = _flat("delete", arr, axis)
    if isinstance(obj, Tracer) and obj.dtype.kind in "iu" and (not obj.ndim or assume_unique_indices):
        return _without(arr, ravel(obj), axis)
    obj = _static("delete", obj)
    try:
        remaining = numpy.delete(numpy.arange(get_aval(arr).shape[axis]), obj)
    except (IndexError, ValueError) as error:
        error_type = ArgumentIndexError if isinstance(error, IndexError) else ArgumentValueError
        raise error_type(
            f"delete: expected positions along a dimension of {get_aval(arr)}, got {obj!r:.60}; {error}"
        ) from error
    return pieces(arr, remaining, axis)


def _without(arr: Any, positions: Any, axis: int) -> Any:
    """Returns an array without the elements at traced positions, which differ."""
    size, count = get_aval(arr).shape[axis], get_aval(positions).size
    index = numpy.arange(size)
    drops = lawful.numpy.any(lawful.numpy.expand_dims(positions % size, 1) == index, axis=0) if size else index > 0
    kept = lawful.numpy.nonzero(lawful.numpy.logical_not(drops), size=size - count)[0]
    return lawful.numpy.take(arr, kept, axis)


def _inserted(arr: Any, position: Any, values: Any, axis: int) -> Any:
    """Returns an array with values before a traced position."""
    aval = get_aval(arr)
    size, values = aval.shape[axis], moveaxis(_with_ndim(values, aval.ndim), 0, axis)
    count = get_aval(values).shape[axis]
    values = broadcast_to(values, (*aval.shape[:axis], count, *aval.shape[axis + 1 :]))
    start = ops.where(position < 0, position + size, position)
    index = numpy.arange(size + count)
    source = ops.where(index < start, index, ops.where(index < start + count, index - start + size, index - count))
    return lawful.numpy.take(ops.concatenate([arr, values], axis), source, axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Returns an array with values inserted, converted to its dtype.

    Args:
      arr: an array.
      obj: before which positions: an integer, a slice, integers or a mask. Only an integer may be traced.
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
    values = ops.convert_element_type(values, aval.dtype)
    if isinstance(obj, Tracer) and obj.dtype.kind in "iu" and not obj.ndim:
        return _inserted(arr, obj, values, axis)
    obj = _static("insert", obj)
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
        error_type = ArgumentIndexError if isinstance(error, IndexError) else ArgumentValueError
        raise error_type(f"insert: expected positions along a dimension of {aval}, got {obj!r:.60}; {error}") from error
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


def _numpy_repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if type(repeats) is int and repeats >= 0:
        return a.repeat(repeats, axis)
    raise TypeError(repeats)


@direct(_numpy_repeat, most=3, names=("axis",))
def repeat(a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None) -> Any:
    """Returns the array with each element repeated.

    Args:
      a: an array.
      repeats: how often: an integer, or one for each element along the dimension.
      axis: the dimension along which they are repeated; by default along the flattened array.
      total_repeat_length: the length of the result, which has to be known where ``repeats`` is traced. More is left
        out, and the last element stands where there is less.

    Raises:
      ArgumentTypeError: ``repeats`` are no integers.
      ArgumentValueError: one is negative, or there are not as many as elements.
      AxisError: there is no such dimension.
      ConcretizationTypeError: ``repeats`` is traced, and there is no ``total_repeat_length``.

    >>> repeat(numpy.array([[1, 2]]), 2, axis=1)
    array([[1, 1, 2, 2]])
    >>> repeat(numpy.array([1, 2]), numpy.array([0, 1]), total_repeat_length=3)
    array([2, 2, 2])

    Source: ``numpy.repeat``, ``jax.numpy.repeat``.
    """
    a, axis = _flat("repeat", a, None if is_axis_of_scalar(axis, get_aval(a).ndim) else axis)
    shape = get_aval(a).shape
    if total_repeat_length is not None:
        return _repeat_to(a, repeats, axis, total_repeat_length)
    if isinstance(repeats, Tracer) and repeats.concrete() is None:
        raise ConcretizationTypeError(
            f"repeat: expected repeats whose values are known, got the tracer {get_aval(repeats)}: their sum would "
            "decide a shape; give the length of the result, repeat(x, repeats, total_repeat_length=n)"
        )
    times = numpy.asarray(_static("repeat", repeats))
    if times.dtype.kind not in "iub" or times.ndim > 1:
        raise ArgumentTypeError(f"repeat: expected integers as repeats, got {repeats!r:.60}; give how often")
    if numpy.any(times < 0) or times.size not in (1, shape[axis]):
        raise ArgumentValueError(
            f"repeat: expected a number that is not negative for each of {shape[axis]} elements, or one for all, got "
            f"{repeats!r:.60}; correct it"
        )
    # The sum of large integers would wrap around.
    total = times.item() * shape[axis] if times.size == 1 else int(numpy.sum(times, dtype=numpy.float64))
    require_size((*shape[:axis], total, *shape[axis + 1 :]), get_aval(a).dtype)
    if is_plain(a):
        return numpy.repeat(a, times, axis)
    if times.size != 1:
        return pieces(a, numpy.repeat(numpy.arange(shape[axis]), times), axis)
    wide = (*shape[: axis + 1], times.item(), *shape[axis + 1 :])
    repeated = ops.broadcast_in_dim(a, wide, [dim for dim in range(len(wide)) if dim != axis + 1])
    return ops.reshape(repeated, (*shape[:axis], shape[axis] * times.item(), *shape[axis + 1 :]))


def _repeat_to(a: Any, repeats: Any, axis: int, total_repeat_length: Any) -> Any:
    """Returns an array with elements repeated by traced counts, of a known length."""
    (total,) = static_integers("repeat", "total_repeat_length", total_repeat_length)
    times, size = get_aval(repeats), get_aval(a).shape[axis]
    if times.dtype.kind not in "iub" or times.ndim > 1:
        raise ArgumentTypeError(f"repeat: expected integers as repeats, got {times}; give how often")
    if times.size not in (1, size) or total < 0 or (total and not size):
        raise ArgumentValueError(
            f"repeat: expected a number for each of {size} elements, or one for all, and a length that is not "
            f"negative, got {times} and {total}; correct them"
        )
    if not total:
        return ops.slice_in_dim(a, 0, 0, axis=axis)
    ends = ops.cumsum(broadcast_to(ops.reshape(ops.convert_element_type(repeats, "int64"), (times.size,)), (size,)))
    positions = lawful.numpy.searchsorted(ends, ops.iota("int64", total), side="right")
    return ops.take(a, ops.min(positions, size - 1), axis, mode="clip")


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Returns an array without the zeros at its ends.

    Args:
      filt: an array, whose values have to be known: its derivative may be taken, it may not be compiled or mapped.
      trim: ``'f'`` for those at the front, ``'b'`` for those at the back, ``'fb'`` for both.
      axis: the dimension, or a tuple of them; all of them if None.

    Raises:
      ConcretizationTypeError: the values are not known: how many are zero would decide the shape.
      ArgumentValueError: ``trim`` is another text.
      AxisError: there is no such dimension.

    >>> trim_zeros(numpy.array([0, 1, 0, 2, 0]))
    array([1, 0, 2])

    Source: ``numpy.trim_zeros``.
    """
    aval, sides = get_aval(filt), trim.lower()
    if not sides or set(sides) - {"f", "b"}:
        raise ArgumentValueError(f"trim_zeros: expected trim to be made of 'f' and 'b', got {trim!r}; give one of both")
    axes = range(aval.ndim) if axis is None else canonical_axes("trim_zeros", axis, aval.ndim)
    known = filt.concrete() if isinstance(filt, Tracer) else to_numpy(filt)
    if known is None:
        raise ConcretizationTypeError(
            f"trim_zeros: expected an array whose values are known, got the tracer {aval}: how many are zero would "
            "decide a shape; slice it"
        )
    positions = numpy.argwhere(known)
    out = filt
    for dim in axes:
        first = int(positions[:, dim].min()) if len(positions) and "f" in sides else 0
        stop = int(positions[:, dim].max()) + 1 if len(positions) and "b" in sides else aval.shape[dim]
        # An array of zeros becomes empty.
        first, stop = (first, stop) if len(positions) else (0, 0)
        out = ops.slice_in_dim(out, first, stop, axis=dim)
    return out
