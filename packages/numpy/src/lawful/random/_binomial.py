"""Numbers of the binomial distribution, by waiting times and by rejection, and of the multinomial one."""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import stop_gradient
from lawful.control_flow import scan, while_loop
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._loops import traced_once
from lawful.random._distributions import shape_or_that_of
from lawful.random._keys import require_key, split
from lawful.random._rejection import first_accepted
from lawful.random._uniform import floating, parameters, uniform

# Up to this mean, of the rarer outcome, waiting times are added; above it numbers are drawn by rejection.
_LARGE = 10

# The error of Stirling's formula for log(k!), for small k.
_MISSING = numpy.array(
    [math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + k + 1 - math.log(2 * math.pi) / 2 for k in range(10)]
)


# Infinities and NaN are valid on the way to numbers.
@numpy.errstate(all="ignore")
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns how many of ``n`` trials succeed, each with probability ``p``.

    Args:
      key: a key.
      n: how many trials, rounded down; it broadcasts to the shape.
      p: the probability, likewise.
      shape: that of the result; by default that of ``n`` and ``p``.
      dtype: a real floating dtype.

    They have no derivative. Where ``n`` or ``p`` is NaN or negative, or ``p`` above 1, they are NaN.

    Raises:
      ArgumentTypeError: it is not a key, the dtype is not real and floating, or a parameter is complex.

    Law: the numbers are those of ``jax.random.binomial``, except where rounding decides. Source: Hörmann, "The
    generation of binomial random variates", J. Stat. Comput. Simul. 46 (1993).

    >>> from lawful.random import key
    >>> binomial(key(0), 10, 0.5, (4,)).shape
    (4,)
    """
    require_key("binomial", key)
    dtype = floating("binomial", dtype)
    n, p = _numbers("binomial", n, p)
    shape = shape_or_that_of("binomial", shape, n, p)
    return _binomial(key, np.broadcast_to(n, shape), np.broadcast_to(p, shape), dtype)


@numpy.errstate(all="ignore")
def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = float, unroll: int = 1) -> Any:
    """Returns how many of ``n`` trials have each outcome.

    Args:
      key: a key.
      n: how many trials.
      p: the probabilities of the outcomes, along the last dimension.
      shape: that of the result, without its last dimension; by default that of ``p``.
      dtype: a real floating dtype.
      unroll: how many outcomes are drawn in one iteration of the compiled loop.

    They have no derivative.

    Raises:
      ArgumentTypeError: it is not a key, the dtype is not real and floating, or a parameter is complex.
      ArgumentValueError: ``p`` has no dimension.

    Law: the numbers are those of ``jax.random.multinomial``, except where rounding decides.

    >>> from lawful.random import key
    >>> import numpy
    >>> numpy.sum(multinomial(key(0), 10, numpy.array([0.2, 0.3, 0.5])))
    np.float64(10.0)
    """
    require_key("multinomial", key)
    dtype = floating("multinomial", dtype)
    n, p = _numbers("multinomial", n, p)
    if not get_aval(p).shape:
        raise ArgumentValueError("multinomial: expected probabilities along a dimension, got a number; give an array")
    whole = get_aval(p).shape[:-1] if shape is None else shape_or_that_of("multinomial", shape, n)
    return _multinomial(key, n, p, whole, unroll).astype(dtype)


@traced_once(3, 4)
def _multinomial(key: Any, n: Any, p: Any, whole: tuple[int, ...], unroll: int) -> Any:
    outcomes = get_aval(p).shape[-1]
    p = np.moveaxis(np.broadcast_to(p, (*whole, outcomes)), -1, 0)
    rest = np.flip(np.cumsum(np.flip(p, 0), axis=0), 0)
    shares = np.clip(p / np.where(rest == 0, 1, rest), 0, 1)

    def draw(left: Any, drawn: Any) -> Any:
        share, key = drawn
        count = _binomial(key, left, share, get_aval(left).dtype)
        return left - count, count

    _, counts = scan(draw, np.broadcast_to(n, whole), (shares, split(key, outcomes)), unroll=unroll)
    return np.moveaxis(counts, 0, -1)


def _numbers(name: str, n: Any, p: Any) -> list[Any]:
    """Returns the numbers of trials and the probabilities in the dtype of these, at least float16."""
    p = stop_gradient(np.asarray(p))
    dtype = get_aval(p).dtype
    if dtype.kind != "f" or dtype.itemsize == 1:
        dtype = numpy.dtype(numpy.float64)
    return parameters(name, dtype, stop_gradient(n), p)


@traced_once(3)
def _binomial(key: Any, n: Any, p: Any, dtype: Any) -> Any:
    is_rare = p < 0.5
    rare = np.where(is_rare, p, 1 - p)
    no_number, no_share = np.isnan(n) | (n < 0), np.isnan(rare) | (rare < 0)
    rare = np.where(no_share, 0.01, rare)
    by_waiting = no_number | (n * rare <= _LARGE)
    n = np.floor(n)
    limit = float(numpy.finfo(dtype).max)
    waited = _waited(key, np.where(by_waiting, n, 0), rare, limit)
    is_infinite = np.isinf(n)
    others = by_waiting | is_infinite
    drawn = _drawn(key, np.where(others, 1e4, n), np.where(others, 0.5, rare), limit)
    count = np.where(by_waiting, waited, drawn).astype(dtype)
    count = np.where(no_number | no_share, math.nan, np.where(is_infinite, math.inf, count))
    return np.where(is_rare | no_number | no_share | is_infinite, count, n.astype(dtype) - count)


def _waited(key: Any, n: Any, p: Any, limit: float) -> Any:
    """Returns how many waiting times for a success fit into ``n`` trials."""
    shape, dtype = get_aval(p).shape, get_aval(p).dtype
    log_failure = np.log1p(-p)

    def goes_on(state: Any) -> Any:
        total, _, _, iteration = state
        return np.any(total <= n) & (iteration < limit)

    def step(state: Any) -> Any:
        total, count, key, iteration = state
        of_time, key = split(key)
        count = np.where(total <= n, count + 1, count)
        return total + np.ceil(np.log(uniform(of_time, shape, dtype)) / log_failure), count, key, iteration + 1

    zeros = np.zeros(shape, dtype)
    return while_loop(goes_on, step, (zeros, zeros, key, 0))[1] - 1


def _drawn(key: Any, n: Any, p: Any, limit: float) -> Any:
    """Returns numbers by transformed rejection (Hörmann's BTRS), whose constants are his."""
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    v_of_center = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = np.floor((n + 1) * p)
    above_mode = n - mode + 1

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a / edge + b) * u + n * p + 0.5)
        above = n - k + 1
        log_probability = (
            (mode + 0.5) * np.log((mode + 1) / (odds * above_mode))
            + (n + 1) * np.log(above_mode / above)
            + (k + 0.5) * np.log(odds * above / (k + 1))
            + (_missing(mode) + _missing(n - mode) - _missing(k) - _missing(n - k))
        )
        log_ratio = np.log(v * alpha / (a / (edge * edge) + b))
        in_center = (edge >= 0.07) & (v <= v_of_center)
        inside = (k >= 0) & (k <= n)
        return k, in_center | (inside & (log_ratio <= log_probability))

    return first_accepted(key, get_aval(p).shape, get_aval(p).dtype, propose, limit)


def _missing(k: Any) -> Any:
    """Returns what Stirling's formula for ``log(k!)`` lacks."""
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    small = np.clip(k, 0, 9).astype("int32")
    return np.where(k <= 9, np.take(_MISSING.astype(get_aval(k).dtype), small), series)
