"""Padding of arrays with values, or with continuations of the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lawful.numpy
import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._integers import assigned
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.pieces import pieces
from lawful.ops import canonical_axis, numpy_reduction, static_integers

__all__ = ["pad"]

Pairs = list[tuple[Any, Any]]

_OPTIONS = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    **{mode: {"stat_length"} for mode in ("maximum", "mean", "median", "minimum")},
    **{mode: set() for mode in ("edge", "wrap", "empty")},
}


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


# None is a value of stat_length.
_NOT_GIVEN: Any = _NotGiven()


@eager(numpy.pad)
def pad(
    array: Any,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = _NOT_GIVEN,
    end_values: Any = _NOT_GIVEN,
    stat_length: Any = _NOT_GIVEN,
    reflect_type: Any = _NOT_GIVEN,
) -> Any:
    """Returns the array with elements put around it.

    Args:
      array: an array.
      pad_width: how many before and after it along each dimension: ``((before, after), …)``, or one such pair or
        one number for all dimensions, or a dictionary of some dimensions.
      mode: which: ``'constant'`` values; those at the ``'edge'``; a ``'linear_ramp'`` to a value; the ``'maximum'``,
        ``'mean'``, ``'median'`` or ``'minimum'`` along the dimension; the elements reversed, without the last one
        (``'reflect'``) or with it (``'symmetric'``); those at the other end (``'wrap'``); ``'empty'`` for zeros.
      constant_values: the values, zero by default, in the form of ``pad_width``.
      end_values: those that the ramps come from and go to, zero by default, in the form of ``pad_width``.
      stat_length: how many elements at each end the maximum and so on are of, all by default, in this form.
      reflect_type: ``'even'``, the default, or ``'odd'`` for twice the edge minus what is reflected.

    Raises:
      ArgumentValueError: a width is negative, there are not as many as dimensions, there is no such mode, it does not
        take such an argument, or a dimension without elements is to be continued.
      ArgumentTypeError: ``mode`` is a function, which NumPy lets write into the array.

    >>> pad(numpy.array([1, 2]), (1, 2))
    array([0, 1, 2, 0, 0])

    Source: ``numpy.pad``.
    """
    if callable(mode):
        raise ArgumentTypeError("pad: expected a named mode, got a function, which writes into arrays; use concatenate")
    if mode not in _OPTIONS:
        raise ArgumentValueError(f"pad: expected a mode of {', '.join(map(repr, _OPTIONS))}, got {mode!r}; give one")
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
    }
    kwargs = {name: value for name, value in given.items() if value is not _NOT_GIVEN}
    if set(kwargs) - _OPTIONS[mode]:
        raise ArgumentValueError(
            f"pad: expected {' and '.join(_OPTIONS[mode]) or 'no more arguments'} with mode={mode!r}, got "
            f"{', '.join(sorted(kwargs))}; leave out the others"
        )
    aval = get_aval(array)
    widths = _widths(pad_width, aval.ndim)
    padded = ops.convert_element_type(array, aval.dtype)
    if mode == "constant":
        return _constant(padded, widths, kwargs.get("constant_values", 0))
    if mode == "empty":
        return _constant(padded, widths, 0)
    add = _continuation(mode, aval.ndim, kwargs)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            if not aval.shape[axis]:
                raise ArgumentValueError(
                    f"pad: expected elements to continue along dimension {axis}, got the shape {aval.shape}; use "
                    "mode='constant'"
                )
            padded = add(padded, axis, before, after)
    return padded


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        rows: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            rows[canonical_axis("pad", axis, ndim)] = width if isinstance(width, tuple | list) else (width, width)
        pad_width = rows
    widths = [static_integers("pad", "pad_width", pair) for pair in _pairs(pad_width, ndim)]
    if any(width < 0 for pair in widths for width in pair):
        raise ArgumentValueError(
            f"pad: expected widths that are not negative, got {pad_width!r}; slice to drop elements"
        )
    return [(before, after) for before, after in widths]


def _pairs(given: Any, ndim: int) -> Pairs:
    """Returns a pair for each dimension, from a number, a pair, or pairs, which broadcast."""
    rows = list(given) if _is_sequence(given) else [given]
    if not any(map(_is_sequence, rows)):
        rows = [rows]
    pairs = [tuple(row) if _is_sequence(row) else (row,) for row in rows]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    pairs = pairs * ndim if len(pairs) == 1 else pairs
    if len(pairs) != ndim or any(len(pair) != 2 for pair in pairs):
        raise ArgumentValueError(
            f"pad: expected a pair for each of {ndim} dimensions, got {given!r}; give {ndim} pairs"
        )
    return [(before, after) for before, after in pairs]


def _is_sequence(x: Any) -> bool:
    return isinstance(x, list | tuple) or (isinstance(x, numpy.ndarray) and x.ndim > 0)


def _constant(x: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    aval = get_aval(x)
    if not _is_sequence(values):
        return ops.pad(x, _assigned(values, aval.dtype), [(*pair, 0) for pair in widths])
    for axis, (pair, ends) in enumerate(zip(widths, _pairs(values, aval.ndim), strict=True)):
        for side in (0, 1):
            config = [(0, 0, 0)] * aval.ndim
            config[axis] = (pair[0], 0, 0) if side == 0 else (0, pair[1], 0)
            x = ops.pad(x, _assigned(ends[side], aval.dtype), config)
    return x


def _assigned(x: Any, dtype: Any) -> Any:
    """Returns a number in a dtype as NumPy's `pad` does, which makes a scalar of it first: an unsigned one may wrap."""
    is_scalar = type(x) in (float, complex, bool) or (type(x) is int and -(2**63) <= x < 2**64)
    known = numpy.asarray(x)[()] if is_scalar or isinstance(x, numpy.ndarray) else x
    return assigned("pad", known, dtype)


# Continuations along one dimension


def _continuation(mode: str, ndim: int, kwargs: dict[str, Any]) -> Callable[[Any, int, int, int], Any]:
    if mode == "linear_ramp":
        ends = _pairs(kwargs.get("end_values", 0), ndim)
        return lambda x, axis, before, after: _ramps(x, axis, before, after, ends[axis])
    if mode in ("maximum", "mean", "median", "minimum"):
        lengths = _pairs(kwargs.get("stat_length"), ndim)
        return lambda x, axis, before, after: _statistics(x, axis, before, after, mode, lengths[axis])
    reflect_type = kwargs.get("reflect_type", "even")
    if reflect_type not in ("even", "odd"):
        raise ArgumentValueError(f"pad: expected reflect_type 'even' or 'odd', got {reflect_type!r}; give one of them")
    return lambda x, axis, before, after: _repeated(x, axis, before, after, mode, reflect_type == "odd")


def _repeated(x: Any, axis: int, before: int, after: int, mode: str, odd: bool) -> Any:
    """Continues with elements of the array, at the positions found by padding the positions with NumPy."""
    size = get_aval(x).shape[axis]
    if not odd:
        positions = numpy.pad(numpy.arange(size), (before, after), mode)  # type: ignore[call-overload]
        return pieces(x, positions, axis)
    # Each element is a linear combination of elements; NumPy's pad of unit vectors gives the coefficients.
    aval = get_aval(x)
    units = numpy.pad(numpy.eye(size, dtype=numpy.int64), ((before, after), (0, 0)), mode, reflect_type="odd")  # type: ignore[call-overload]
    out = ops.dot_general(ops.convert_element_type(units, aval.dtype), x, (((1,), (axis,)), ((), ())))
    order = list(range(1, aval.ndim))
    order.insert(axis, 0)
    return ops.transpose(out, order)


def _ends(x: Any, axis: int, counts: tuple[int, int]) -> tuple[Any, Any]:
    """Returns the first and the last elements of a dimension, as many as ``counts``."""
    size = get_aval(x).shape[axis]
    return ops.slice_in_dim(x, 0, counts[0], axis=axis), ops.slice_in_dim(x, size - counts[1], size, axis=axis)


def _ramps(x: Any, axis: int, before: int, after: int, ends: tuple[Any, Any]) -> Any:
    dtype = get_aval(x).dtype
    edges = [ops.squeeze(edge, (axis,)) for edge in _ends(x, axis, (1, 1))]
    up, down = (_ramp(*arguments, axis, dtype) for arguments in zip(ends, edges, (before, after), strict=True))
    return ops.concatenate([up, x, ops.rev(down, (axis,))], axis)


def _ramp(start: Any, stop: Any, count: int, axis: int, dtype: Any) -> Any:
    """Returns numbers from one to before another, computed in 64 bits; integers wrap around."""
    is_complex = "c" in (dtype.kind, get_aval(start).dtype.kind)
    wide = numpy.dtype(numpy.complex128 if is_complex else numpy.float64)
    start, stop = (ops.convert_element_type(end, wide) for end in (start, stop))
    numbers = lawful.numpy.linspace(start, stop, count, endpoint=False, axis=axis)
    if dtype.kind not in "iu":
        return ops.convert_element_type(numbers, dtype)
    numbers = ops.floor(numbers)
    whole = ops.convert_element_type(ops.convert_element_type(numbers, numpy.int64), dtype)
    if dtype != numpy.uint64:
        return whole
    return ops.where(ops.lt(numbers, 0.0), whole, ops.convert_element_type(numbers, dtype))


def _statistics(x: Any, axis: int, before: int, after: int, mode: str, lengths: tuple[Any, Any]) -> Any:
    size = get_aval(x).shape[axis]
    counts = [
        size if length is None else min(static_integers("pad", "stat_length", length)[0], size) for length in lengths
    ]
    if min(counts) < 0 or (0 in counts and mode in ("maximum", "minimum")):
        raise ArgumentValueError(f"pad: expected a positive stat_length for mode={mode!r}, got {lengths}; give one")
    function = _STATISTICS[mode]
    parts = [function(end, axis) for end in _ends(x, axis, (counts[0], counts[1]))]
    shape = get_aval(x).shape
    wide = [
        broadcast_to(_rounded(part, get_aval(x).dtype), (*shape[:axis], width, *shape[axis + 1 :]))
        for part, width in zip(parts, (before, after), strict=True)
    ]
    return ops.concatenate([wide[0], x, wide[1]], axis)


def _rounded(x: Any, dtype: Any) -> Any:
    if dtype.kind in "iu" and get_aval(x).dtype.kind == "f":
        x = ops.round_nearest_even(x)
    return ops.convert_element_type(x, dtype)


_STATISTICS: dict[str, Callable[[Any, int], Any]] = {
    "maximum": lambda x, axis: numpy_reduction.max(x, axis=axis, keepdims=True),
    "minimum": lambda x, axis: numpy_reduction.min(x, axis=axis, keepdims=True),
    "mean": lambda x, axis: numpy_reduction.mean(x, axis=axis, keepdims=True),
    "median": lambda x, axis: lawful.numpy.median(x, axis=axis, keepdims=True),
}
