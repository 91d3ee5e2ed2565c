"""Helpers of rules of reverse mode: the transposes of broadcasting and of reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

import lawful.numpy as np
from lawful.core import Tracer, get_aval


def _type_of(x: Any) -> tuple[tuple[int, ...], bool]:
    """Returns the shape of an array-like, and whether it is complex."""
    x = x if isinstance(x, Tracer) else numpy.asarray(x)
    return x.shape, x.dtype.kind == "c"


def unbroadcast(x: Any, target_meta: tuple[Any, ...], broadcast_idx: int = 0) -> Any:
    """Returns a cotangent summed over the dimensions that an argument was broadcast along.

    Args:
      x: the cotangent.
      target_meta: the shape of the argument, its number of dimensions, its dtype, and whether it is complex.
      broadcast_idx: where new dimensions were added.

    >>> unbroadcast(numpy.ones((2, 3)), metadata(numpy.ones(3)))
    array([2., 2., 2.])
    """
    shape, ndim, _, is_complex = target_meta
    got = get_aval(x)
    if got.ndim > ndim:
        x = np.sum(x, axis=tuple(range(broadcast_idx, broadcast_idx + got.ndim - ndim)))
    axes = tuple([i for i, size in enumerate(shape) if size == 1 and get_aval(x).shape[i] != 1])
    if axes:
        x = np.sum(x, axis=axes, keepdims=True)
    return np.real(x) if get_aval(x).dtype.kind == "c" and not is_complex else x


def metadata(A: Any) -> tuple[tuple[int, ...], int, Any, bool]:
    """Returns the shape of an array, its number of dimensions, its dtype, and whether it is complex.

    >>> metadata(numpy.ones((2, 3)))
    ((2, 3), 2, dtype('float64'), False)
    """
    shape, is_complex = _type_of(A)
    return shape, len(shape), np.result_type(A), is_complex


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a rule whose cotangent is summed over the dimensions that an argument was broadcast along.

    Args:
      target: the argument.
      f: the rule, from the cotangent of the result to that of the broadcast argument.

    >>> unbroadcast_f(1.0, lambda g: 2.0 * g)(numpy.ones(3))
    np.float64(6.0)
    """
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def match_complex(target: Any, x: Any) -> Any:
    """Returns an array as complex or real as another one.

    >>> match_complex(1j, 2.0)
    np.complex128(2+0j)
    """
    is_complex = _type_of(target)[1]
    if is_complex == _type_of(x)[1]:
        return x
    return np.add(x, 0j) if is_complex else np.real(x)


def replace_zero(x: Any, val: Any) -> Any:
    """Returns an array with a value in place of zeros.

    >>> replace_zero(numpy.arange(3.0), 5.0)
    array([5., 1., 2.])
    """
    return np.where(np.equal(x, 0), val, x)


def repeat_to_match_shape(
    g: Any, shape: Sequence[int], dtype: Any, axis: int | Sequence[int] | None, keepdims: bool
) -> tuple[Any, Any]:
    """Returns a reduced array broadcast to the shape before the reduction, and how many elements were reduced to one.

    Args:
      g: the array.
      shape: the shape before the reduction.
      dtype: the dtype of the result.
      axis: the dimensions that were reduced; None for all.
      keepdims: whether these are in ``g``, with length 1.

    >>> repeat_to_match_shape(3.0, (2, 2), float, None, False)
    (array([[3., 3.],
           [3., 3.]]), 4)
    """
    if not shape:
        return g, 1
    ndim = len(shape)
    axes = range(ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    reduced = {i % ndim for i in axes}
    g = np.reshape(g, [1 if i in reduced else size for i, size in enumerate(shape)])
    count = int(numpy.prod([shape[i] for i in reduced]))
    return np.broadcast_to(np.astype(np.asarray(g), dtype), tuple(shape)), count
