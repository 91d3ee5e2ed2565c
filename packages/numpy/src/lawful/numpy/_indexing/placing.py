"""Elements put into an array, and chosen from several. The functions return a new array where NumPy overwrites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tracer, get_aval, shorten, to_numpy
from lawful.numpy._indexing.elements import nonzero
from lawful.numpy._integers import assigned, is_weak
from lawful.numpy._manipulation.broadcasting import broadcast_arrays
from lawful.numpy._manipulation.shape import ravel
from lawful.ops import canonical_axis, is_axis_of_scalar

__all__ = ["choose", "compress", "extract", "fill_diagonal", "place", "put"]


def _check_inplace(name: str, inplace: bool) -> None:
    if inplace:
        raise ArgumentValueError(
            f"{name}: expected inplace=False, got True: arrays are not overwritten; write "
            f"x = lawful.numpy.{name}(x, ..., inplace=False)"
        )


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """Returns an array with values at positions of its flattened form.

    Args:
      a: an array.
      ind: integers, which may be traced.
      v: the values, repeated if there are fewer than positions.
      mode: ``'clip'`` writes to the nearest of positions outside, ``'wrap'`` counts on from the other end. By default
        known positions raise, and traced ones are left out.
      inplace: has to be False: nothing is overwritten.

    Raises:
      ArgumentIndexError: a known position is outside.
      ArgumentValueError: ``inplace`` is true, or there is no such mode.

    >>> put(numpy.array([1, 2, 3]), numpy.array([0, 2]), 9, inplace=False)
    array([9, 2, 9])

    Source: ``numpy.put``, ``jax.numpy.put``.
    """
    _check_inplace("put", inplace)
    if mode not in (None, "raise", "clip", "wrap"):
        raise ArgumentValueError(f"put: expected mode='raise', 'clip' or 'wrap', got {mode!r}; choose one")
    aval, positions = get_aval(a), ravel(ind)
    if get_aval(positions).dtype.kind not in "iu":
        raise ArgumentTypeError(f"put: expected integers as positions, got {get_aval(ind)}; convert with astype")
    count, values = get_aval(positions).size, ravel(_fitting(v, aval.dtype))
    if not count or not get_aval(values).size:
        return ops.convert_element_type(a, aval.dtype)
    times = -(-count // get_aval(values).size)
    values = ops.slice_in_dim(ops.concatenate([values] * times, 0) if times > 1 else values, 0, count)
    if mode == "wrap":
        positions = ops.remainder(positions, max(aval.size, 1))
    elif mode == "clip":
        positions = ops.clamp(0, positions, max(aval.size - 1, 0))
    return ops.reshape(ops.at(ravel(a))[positions].set(values), aval.shape)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """Returns an array with values where a mask is true, in this order, repeated if there are fewer.

    Args:
      arr: an array.
      mask: booleans of as many elements, which may be traced.
      vals: the values.
      inplace: has to be False: nothing is overwritten.

    Raises:
      ArgumentValueError: ``inplace`` is true, the mask has another size, or there are no values for it.

    >>> place(numpy.array([1, 2, 3]), numpy.array([True, False, True]), numpy.array([7, 8]), inplace=False)
    array([7, 2, 8])

    Source: ``numpy.place``, ``jax.numpy.place``.
    """
    _check_inplace("place", inplace)
    aval, chosen = get_aval(arr), ravel(mask)
    is_number = isinstance(vals, int | float | complex | numpy.generic) or is_weak(vals)
    values = ravel(assigned("place", vals, aval.dtype) if is_number else vals)
    if get_aval(chosen).size != aval.size:
        raise ArgumentValueError(f"place: expected a mask of as many elements, got {get_aval(mask)} for {aval}")
    chosen = ops.convert_element_type(chosen, bool)
    if not get_aval(values).size:
        if not isinstance(mask, Tracer) and not numpy.any(to_numpy(mask)):
            return ops.convert_element_type(arr, aval.dtype)
        raise ArgumentValueError("place: expected values to put in, got none; give at least one")
    # Each true element gets the value whose number is the count of true elements before it.
    before = ops.sub(ops.cumsum(ops.convert_element_type(chosen, numpy.int64), 0), 1)
    values = ops.convert_element_type(values, aval.dtype)
    found = ops.getitem(values, ops.remainder(before, get_aval(values).size))
    return ops.reshape(ops.where(chosen, found, ravel(arr)), aval.shape)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """Returns an array with values on its main diagonal.

    Args:
      a: a matrix, or an array of more dimensions of one length.
      val: a number, or numbers, repeated if there are fewer.
      wrap: whether the diagonal of a matrix with more rows goes on after a row in between.
      inplace: has to be False: nothing is overwritten.

    Raises:
      ArgumentValueError: ``inplace`` is true, or the array has not such dimensions.

    >>> fill_diagonal(numpy.zeros((2, 2)), 5.0, inplace=False)
    array([[5., 0.],
           [0., 5.]])

    Source: ``numpy.fill_diagonal``, ``jax.numpy.fill_diagonal``.
    """
    _check_inplace("fill_diagonal", inplace)
    aval = get_aval(a)
    shape = aval.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ArgumentValueError(
            f"fill_diagonal: expected a matrix, or dimensions of one length, got the shape {shape}; reshape it"
        )
    step = 1 + shape[1] if len(shape) == 2 else 1 + sum(shape[0] ** i for i in range(1, len(shape)))
    end = shape[1] ** 2 if len(shape) == 2 and not wrap else aval.size
    count = len(range(0, min(end, aval.size), step))
    if not count:
        return ops.convert_element_type(a, aval.dtype)
    return put(a, numpy.arange(count) * step, val, inplace=False)


def _fitting(value: Any, dtype: numpy.dtype[Any]) -> Any:
    """Returns a Python integer converted to a dtype, an error if it does not fit; anything else as it is."""
    return ops.convert_element_type(value, dtype) if type(value) is int else value


# Chosen


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Returns, for each position, the element of the array that an integer there chooses.

    Args:
      a: integers, which may be traced.
      choices: a sequence of arrays, or an array of them; all are broadcast together.
      out: None only.
      mode: the treatment of integers that choose none: ``'raise'``, of those that are known; ``'clip'`` takes the
        nearest, ``'wrap'`` counts on from the other end. Traced ones are clipped where they are to raise.

    Raises:
      ArgumentValueError: a known integer chooses none, there is no such mode, or shapes do not broadcast.
      ArgumentTypeError: they are no integers, or ``out`` is given.

    >>> choose(numpy.array([1, 0]), [numpy.array([1, 2]), numpy.array([3, 4])])
    array([3, 2])

    Source: ``numpy.choose``.
    """
    if out is not None:
        raise ArgumentTypeError("choose: expected no out=, got one: arrays are not overwritten; use the result")
    if mode not in ("raise", "clip", "wrap"):
        raise ArgumentValueError(f"choose: expected mode='raise', 'clip' or 'wrap', got {mode!r}; choose one")
    if not isinstance(choices, list | tuple) and not get_aval(choices).shape:
        raise ArgumentTypeError(f"choose: expected arrays to choose from, got {shorten(choices)}; give a list of them")
    given = list(choices) if isinstance(choices, list | tuple) else [choices[i] for i in range(len(choices))]
    if get_aval(a).dtype.kind not in "iub":
        raise ArgumentTypeError(f"choose: expected integers, got {get_aval(a)}; convert with astype")
    if not given:
        raise ArgumentValueError("choose: expected arrays to choose from, got none; give at least one")
    known = numpy.zeros(0) if isinstance(a, Tracer) else to_numpy(a)
    if mode == "raise" and numpy.any((known < 0) | (known >= len(given))):
        raise ArgumentValueError(f"choose: expected integers from 0 to {len(given) - 1}, got {a!r:.60}; give a mode")
    which: Any = ops.convert_element_type(a, numpy.int64)
    which = ops.remainder(which, len(given)) if mode == "wrap" else ops.clamp(0, which, len(given) - 1)
    which, *arrays = broadcast_arrays(which, *ops.promote("choose", None, given))
    return ops.select_n(ops.convert_element_type(which, numpy.int32), *arrays) if len(arrays) > 1 else arrays[0]


def compress(
    condition: Any, a: Any, axis: int | None = None, out: Any = None, *, size: int | None = None, fill_value: Any = 0
) -> Any:
    """Returns the parts of an array along a dimension where a condition is true.

    Args:
      condition: booleans, one for each part, or fewer.
      a: an array.
      axis: the dimension; None for that of the flattened array.
      out: None only.
      size: how many parts are given; it has to be known where the condition is traced. More are left out.
      fill_value: the value where there are fewer.

    Raises:
      ArgumentValueError: the condition is no vector.
      ArgumentIndexError: it is true beyond the end.
      ArgumentTypeError: ``out`` is given.
      ConcretizationTypeError: the condition is traced, and there is no ``size``.

    >>> compress(numpy.array([True, False, True]), numpy.array([1, 2, 3]))
    array([1, 3])

    Source: ``numpy.compress``, ``jax.numpy.compress``.
    """
    if out is not None:
        raise ArgumentTypeError("compress: expected no out=, got one: arrays are not overwritten; use the result")
    ndim, x = get_aval(a).ndim, a
    if axis is None or is_axis_of_scalar(axis, ndim):
        x, axis, ndim = ravel(a), 0, 1
    axis = canonical_axis("compress", axis, ndim)
    condition = numpy.asarray(condition) if isinstance(condition, Sequence) else condition
    given, length = get_aval(condition), get_aval(x).shape[axis]
    if given.ndim != 1:
        raise ArgumentValueError(f"compress: expected a vector of booleans, got {given}; ravel it")
    if given.shape[0] > length and not isinstance(condition, Tracer) and numpy.any(to_numpy(condition)[length:]):
        raise ArgumentIndexError(
            f"compress: expected a condition that is true up to {length} only, got {given}; slice it"
        )
    if size is None:
        return ops.take(x, nonzero(condition)[0], axis)
    condition = ops.slice_in_dim(condition, 0, min(given.shape[0], length))
    (positions,) = nonzero(condition, size=size, fill_value=length)
    fill = ops.convert_element_type(fill_value, get_aval(x).dtype)
    return ops.take(ops.pad(x, fill, [(0, int(dim == axis), 0) for dim in range(ndim)]), positions, axis)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """Returns the elements of an array where a condition is true, in row-major order; arguments as `compress`.

    >>> extract(numpy.array([[True, False], [False, True]]), numpy.array([[1, 2], [3, 4]]))
    array([1, 4])

    Source: ``numpy.extract``, ``jax.numpy.extract``.
    """
    known = condition if isinstance(condition, Tracer) else numpy.ravel(to_numpy(condition))
    return compress(ravel(known) if known is condition else known, ravel(arr), size=size, fill_value=fill_value)
