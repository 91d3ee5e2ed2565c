"""Random numbers of other distributions, computed from uniform ones."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from lawful import ops
from lawful.core import ArgumentTypeError, as_dtype, get_aval, is_float
from lawful.random._keys import require_key, shape_of, split
from lawful.random._normal_tail import is_in_tail, normal_in_tail
from lawful.random._uniform import floating, may_hold, parameters, uniform

_ROOT_2 = math.sqrt(2.0)


def normal(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the normal distribution, of mean 0 and variance 1.

    Args:
      key: a key.
      shape: that of the result.
      dtype: a floating or complex dtype; of a complex one each part has the variance 1/2.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is neither.

    Law: the numbers are those of ``jax.random.normal`` for the same dtype, up to rounding.

    >>> from lawful.random import key
    >>> normal(key(0), (2,), "float32").round(4)
    array([1.6226, 2.0253], dtype=float32)
    """
    require_key("normal", key)
    dtype = as_dtype(dtype)
    if dtype.kind == "c":
        part = np.dtype(f"float{dtype.itemsize * 4}")
        real, imag = (_real_normal(half, shape, part) for half in split(key))
        return ops.div(ops.complex(real, imag), dtype.type(_ROOT_2))
    return _real_normal(key, shape, floating("normal", dtype))


def _real_normal(key: Any, shape: Any, dtype: np.dtype[Any]) -> Any:
    above = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    return ops.mul(dtype.type(_ROOT_2), ops.erf_inv(uniform(key, shape, dtype, above, 1.0)))


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the normal distribution between two bounds.

    Args:
      key: a key.
      lower: the lower bound, which may be -infinity.
      upper: the upper bound, which may be infinity and broadcasts with the lower one. Where it is less than the lower
        one, the result is NaN; where they are equal, it is that number.
      shape: that of the result; by default that of the bounds.
      dtype: a real floating dtype.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not real and floating.

    Law: the numbers are those of ``jax.random.truncated_normal`` for the same dtype, up to rounding, unless both bounds
    are far in one tail, where the error function is 1 to rounding.

    >>> from lawful.random import key
    >>> bool(abs(truncated_normal(key(0), -0.1, 0.1)) < 0.1)
    True
    """
    require_key("truncated_normal", key)
    dtype = floating("truncated_normal", dtype)
    low, high = parameters("truncated_normal", dtype, lower, upper)
    shape = shape_or_that_of("truncated_normal", shape, low, high)
    root = dtype.type(_ROOT_2)
    ends = [ops.erf(ops.div(bound, root)) for bound in (low, high)]
    between = uniform(key, shape, dtype)
    of_erf = ops.max(ends[0], ops.add(ops.mul(between, ops.sub(ends[1], ends[0])), ends[0]))
    # Rounding must not give 1, where the inverse is infinite.
    below_1 = np.nextafter(np.array(1, dtype), np.array(0, dtype), dtype=dtype)[()]
    drawn = ops.mul(root, ops.erf_inv(ops.clamp(-below_1, of_erf, below_1)))
    if may_hold(is_in_tail, dtype, lower, upper):
        drawn = ops.where(is_in_tail(low, high), normal_in_tail(between, low, high), drawn)
    # Rounding must not leave the interval.
    above = ops.nextafter(low, dtype.type(np.inf))
    below = ops.nextafter(high, dtype.type(-np.inf))
    inside = ops.min(ops.max(drawn, above), below)
    if not may_hold(ops.ge, dtype, lower, upper):
        return inside
    return ops.where(ops.lt(low, high), inside, ops.where(ops.eq(low, high), low, dtype.type(np.nan)))


def exponential(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the exponential distribution, of mean 1.

    Args:
      key: a key.
      shape: that of the result.
      dtype: a real floating dtype.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not real and floating.

    Law: the numbers are those of ``jax.random.exponential`` for the same dtype, up to rounding.

    >>> from lawful.random import key
    >>> bool(exponential(key(0)) > 0)
    True
    """
    require_key("exponential", key)
    return ops.neg(ops.log1p(ops.neg(uniform(key, shape, floating("exponential", dtype)))))


def gumbel(key: Any, shape: Any = (), dtype: Any = float) -> Any:
    """Returns numbers of the standard Gumbel distribution.

    Args:
      key: a key.
      shape: that of the result.
      dtype: a real floating dtype.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not real and floating.

    Law: the numbers are those of ``jax.random.gumbel`` for the same dtype, up to rounding.

    >>> from lawful.random import key
    >>> gumbel(key(0), (3,)).round(3)
    array([ 0.138, -0.426,  3.344])
    """
    require_key("gumbel", key)
    dtype = floating("gumbel", dtype)
    smallest = float(ml_dtypes.finfo(dtype).tiny)
    drawn = uniform(key, shape, dtype, smallest, 1.0)
    return ops.neg(ops.log(ops.neg(ops.log(drawn))))


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """Returns booleans that are true with some probability.

    Args:
      key: a key.
      p: the probability, a real floating array.
      shape: that of the result; by default that of ``p``.

    Raises:
      ArgumentTypeError: it is not a key, or ``p`` is not real and floating.

    Law: the booleans are those of ``jax.random.bernoulli`` for the same dtype of ``p``.

    >>> from lawful.random import key
    >>> bernoulli(key(0), 0.5, (4,)).dtype
    dtype('bool')
    """
    require_key("bernoulli", key)
    dtype = get_aval(p).dtype
    if not is_float(dtype):
        raise ArgumentTypeError(f"bernoulli: expected a real floating p, got {get_aval(p)}; give a probability")
    return ops.lt(uniform(key, shape_or_that_of("bernoulli", shape, p), dtype), p)


def shape_or_that_of(name: str, shape: Any, *values: Any) -> tuple[int, ...]:
    """Returns a shape; if none is given, that which the values broadcast to."""
    if shape is not None:
        return shape_of(name, shape)
    return np.broadcast_shapes(*[get_aval(value).shape for value in values])
