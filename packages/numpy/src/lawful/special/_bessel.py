"""Bessel functions of the first kind, of all integer orders up to one."""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.control_flow import scan
from lawful.core import ArgumentValueError, cached_function, get_aval
from lawful.custom_rules import custom_jvp
from lawful.numpy._loops import traced_once
from lawful.special._arguments import floats, silent, static_integer

# Below the first number by power series; from the second one on, or the order if that is larger, upwards from orders 0
# and 1 by their asymptotic series; between them downwards from an order at which the function vanishes.
_NEAR, _FAR = 2.0, 25.0
_SERIES_TERMS, _FAR_TERMS = 14, 12
_TINY = 1e-300
# Recurrences of at most this many steps are unrolled: they compile faster, and run as fast.
_FEW_STEPS = 8


@silent
def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """Returns the Bessel functions of the first kind of orders 0 to ``v``.

    Args:
      z: real numbers.
      v: an integer that is not negative.
      n_iter: accepted, without effect: the number of steps follows from ``v``.

    Returns:
      An array of shape ``(v + 1, *z.shape)``, of the dtype of ``z``.

    Raises:
      ArgumentTypeError: ``z`` is complex, or ``v`` is no integer.
      ArgumentValueError: ``v`` is negative.

    >>> bessel_jn(1.0, v=2)
    array([0.76519769, 0.44005059, 0.11490348])

    Source: ``jax.scipy.special.bessel_jn``; ``scipy.special.jv``, which has one order.
    """
    v = static_integer("bessel_jn", "v", v)
    if v < 0:
        raise ArgumentValueError(f"bessel_jn: expected an order v that is not negative, got {v}; give 0 or more")
    (z,) = floats("bessel_jn", z)
    dtype = get_aval(z).dtype
    return ops.convert_element_type(_orders(v)(ops.convert_element_type(z, numpy.dtype(float))), dtype)


@cached_function("orders of Bessel functions", 256)
def _orders(v: int) -> Any:
    """Returns the function of float64 that computes the orders 0 to ``v``, with derivatives by DLMF 10.6.1."""

    @custom_jvp
    @traced_once()
    def orders(z: Any) -> Any:
        return _evaluate(z, v)

    @orders.defjvp
    def orders_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
        wider = _orders(v + 1)(primals[0])
        first = ops.expand_dims(ops.neg(wider[1]), (0,))
        rest = ops.mul(ops.sub(wider[:v], wider[2 : v + 2]), 0.5)
        return wider[: v + 1], ops.mul(ops.concatenate([first, rest], 0), ops.expand_dims(tangents[0], (0,)))

    return orders


def _evaluate(z: Any, v: int) -> Any:
    size = ops.abs(z)
    far_from = max(_FAR, float(v))
    series = _by_series(ops.min(size, _NEAR), v)
    between = _downwards(ops.min(ops.max(size, _NEAR), far_from), v, far_from)
    upwards = _upwards(ops.max(size, far_from), v)
    out = ops.where(ops.lt(size, _NEAR), series, ops.where(ops.lt(size, far_from), between, upwards))
    signs = _column(numpy.array([(-1.0) ** k for k in range(v + 1)]), z)
    out = ops.where(ops.lt(z, 0), ops.mul(signs, out), out)
    return ops.where(ops.eq(size, math.inf), 0.0, ops.where(ops.eq(z, z), out, math.nan))


def _column(x: Any, z: Any) -> Any:
    """Returns a vector as an array with one more dimension than ``z``."""
    return x.reshape((-1,) + (1,) * get_aval(z).ndim)


def _by_series(z: Any, v: int) -> Any:
    """Returns the power series, DLMF 10.2.2."""
    orders = _column(numpy.arange(v + 1.0), z)
    quarter = ops.mul(ops.square(z), -0.25)
    total: Any = 1.0
    for k in range(_SERIES_TERMS, 0, -1):
        total = ops.add(ops.mul(ops.mul(quarter, 1 / (k * (orders + k))), total), 1.0)
    factorials = _column(numpy.array([math.exp(-math.lgamma(k + 1)) for k in range(v + 1)]), z)
    return ops.mul(ops.mul(ops.pow(ops.mul(z, 0.5), orders), factorials), total)


def _downwards(z: Any, v: int, far: float) -> Any:
    """Returns the orders by downward recurrence, scaled so that ``J₀ + 2 J₂ + 2 J₄ + …`` is 1: Miller (1952)."""

    def last(size: Any) -> Any:
        return size + 12 * size ** (1 / 3)

    steps = int(max(v + 16, last(far) + 25)) + 1
    vanishing = last(z)
    start = ops.min(ops.max(ops.add(vanishing, 25.0), v + 16.0), ops.add(vanishing, 140.0))
    zero = ops.full_like(z, 0.0)

    def step(carry: Any, k: Any) -> Any:
        above, here, total = carry
        below = ops.sub(ops.div(ops.mul(ops.mul(here, k), 2.0), z), above)
        below = ops.where(ops.gt(k, start), 0.0, ops.where(ops.gt(ops.add(k, 1.0), start), _TINY, below))
        # The order of the next one is k - 1.
        weight = ops.where(ops.eq(k, 1.0), 1.0, ops.where(ops.eq(ops.rem(k, 2.0), 1.0), 2.0, 0.0))
        return (here, below, ops.add(total, ops.mul(weight, below))), below

    ks = numpy.arange(float(steps), 0.0, -1.0)
    carry, _ = scan(lambda c, k: (step(c, k)[0], None), (zero, zero, zero), ks[: steps - v - 1])
    (_, _, total), found = scan(step, carry, ks[steps - v - 1 :])
    return ops.div(ops.rev(found, (0,)), total)


def _upwards(z: Any, v: int) -> Any:
    """Returns the orders by upward recurrence from orders 0 and 1, for ``z`` not below the order."""
    zero, one = _asymptotic(z)
    if v == 0:
        return ops.expand_dims(zero, (0,))

    def step(carry: Any, k: Any) -> Any:
        below, here = carry
        above = ops.sub(ops.div(ops.mul(ops.mul(here, k), 2.0), z), below)
        return (here, above), above

    _, rest = scan(step, (zero, one), numpy.arange(1.0, float(v)), unroll=v <= _FEW_STEPS)
    return ops.concatenate([ops.expand_dims(zero, (0,)), ops.expand_dims(one, (0,)), rest], 0)


def _hankel_coefficients() -> numpy.ndarray[Any, Any]:
    """Returns the coefficients of the even and the odd part of Hankel's series, of orders 0 and 1, in rows."""
    rows = []
    for order in (0, 1):
        coefficients = [1.0]
        for k in range(1, 2 * _FAR_TERMS):
            coefficients.append(coefficients[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
        rows += [[(-1) ** k * coefficients[2 * k + first] for k in range(_FAR_TERMS)] for first in (0, 1)]
    return numpy.array(rows)


def _asymptotic(z: Any) -> tuple[Any, Any]:
    """Returns the functions of orders 0 and 1 by Hankel's series, DLMF 10.17.3."""
    inverse = ops.div(1.0, z)
    square = ops.expand_dims(ops.square(inverse), (0,))
    total: Any = 0.0
    for column in _hankel_coefficients().T[::-1]:  # all four polynomials at once
        total = ops.add(ops.mul(total, square), _column(column, z))
    # The angle is z - order π / 2 - π / 4.
    sine, cosine = ops.sin(z), ops.cos(z)
    scale = ops.sqrt(ops.mul(z, math.pi))
    cosines = (ops.add(cosine, sine), ops.sub(sine, cosine))
    outs = []
    for order, wave, shifted in ((0, cosines[0], cosines[1]), (1, cosines[1], ops.neg(cosines[0]))):
        even, odd = total[2 * order], ops.mul(total[2 * order + 1], inverse)
        outs.append(ops.div(ops.sub(ops.mul(even, wave), ops.mul(odd, shifted)), scale))
    return outs[0], outs[1]
