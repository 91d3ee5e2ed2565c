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

# Below this number, or the order if that is larger, by ratios of neighbours; from there on upwards from orders 0 and 1
# by their asymptotic series.
_FAR = 25.0
_FAR_TERMS = 10
# The divisor in place of 0. It is smaller than the rounding errors of a divisor.
_TINY = 1e-30
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
    is_near, sign = ops.lt(size, far_from), ops.where(ops.lt(z, 0), -1.0, 1.0)
    start, ratios = _downwards(ops.mul(sign, ops.min(size, far_from)), v, far_from)
    far = ops.max(size, far_from)
    is_zero = _column(numpy.array([True, False]), z)
    near = ops.mul(start, ops.where(is_zero, 1.0, ops.expand_dims(ratios[0], (0,))))
    first = ops.where(is_near, near, ops.mul(ops.where(is_zero, 1.0, sign), _asymptotic(far)))
    # XLA would compute both orders again for each one above.
    first = ops.optimization_barrier(ops.where(ops.eq(size, math.inf), 0.0, first))
    far = ops.mul(sign, far)

    def step(carry: Any, k_and_ratio: Any) -> Any:
        (below, here), (k, ratio) = carry, k_and_ratio
        above = ops.sub(ops.div(ops.mul(ops.mul(here, k), 2.0), far), below)
        above = ops.where(is_near, ops.mul(here, ratio), above)
        return (here, above), above

    below, here = first[0], first[1]
    if v > _FEW_STEPS:
        _, rest = scan(step, (below, here), (numpy.arange(1.0, float(v)), ratios[1:]))
        return ops.concatenate([first, rest], 0)
    rows = []
    for k in range(1, v):
        (below, here), row = step((below, here), (float(k), ratios[k]))
        rows.append(ops.expand_dims(row, (0,)))
    return ops.concatenate([first[: v + 1], *rows], 0)


def _column(x: Any, z: Any) -> Any:
    """Returns a vector as an array with one more dimension than ``z``."""
    return x.reshape((-1,) + (1,) * get_aval(z).ndim)


def _downwards(z: Any, v: int, far: float) -> tuple[Any, Any]:
    """Returns order 0, and the ratios of the orders 1 to ``v`` to those before, by downward recurrence, DLMF 10.10.1.

    The sum ``J₀ + 2 J₂ + 2 J₄ + …`` is 1 (DLMF 10.12.4): its part from an order on, over that order, has a recurrence
    as well. Unlike the functions themselves, neither overflows: Miller (1952), Gautschi (1967).
    """
    # There the functions vanish beside those that count.
    steps = int(max(v + 16, far + 12 * far ** (1 / 3) + 25)) + 1

    def step(carry: Any, k: Any) -> Any:
        ratio, total = carry
        divisor = ops.sub(ops.mul(k, 2.0), ops.mul(z, ratio))
        ratio = ops.div(z, ops.where(ops.eq(divisor, 0.0), _TINY, divisor))
        # The order of the next one is k - 1.
        weight = ops.where(ops.eq(k, 1.0), 1.0, ops.where(ops.eq(ops.rem(k, 2.0), 1.0), 2.0, 0.0))
        return (ratio, ops.add(ops.mul(ratio, total), weight)), ratio

    zero = ops.full_like(z, 0.0)
    ks = numpy.arange(float(steps), 0.0, -1.0)
    kept = steps - max(v, 1)
    carry, _ = scan(lambda c, k: (step(c, k)[0], None), (zero, zero), ks[:kept])
    (_, total), ratios = scan(step, carry, ks[kept:])
    return ops.expand_dims(ops.div(1.0, total), (0,)), ops.rev(ratios, (0,))


def _hankel_coefficients() -> numpy.ndarray[Any, Any]:
    """Returns the coefficients of the even and the odd part of Hankel's series, of orders 0 and 1, in rows."""
    rows = []
    for order in (0, 1):
        coefficients = [1.0]
        for k in range(1, 2 * _FAR_TERMS):
            coefficients.append(coefficients[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
        rows += [[(-1) ** k * coefficients[2 * k + first] for k in range(_FAR_TERMS)] for first in (0, 1)]
    return numpy.array(rows)


def _asymptotic(z: Any) -> Any:
    """Returns the functions of orders 0 and 1 by Hankel's series, DLMF 10.17.3, in an array with a first axis."""
    inverse = ops.expand_dims(ops.div(1.0, z), (0,))
    square = ops.square(inverse)
    even: Any = 0.0
    odd: Any = 0.0
    for column in _hankel_coefficients().T[::-1]:  # of both orders at once
        even = ops.add(ops.mul(even, square), _column(column[::2], z))
        odd = ops.add(ops.mul(odd, square), _column(column[1::2], z))
    # The angle is z - order π / 2 - π / 4.
    sine, cosine = ops.expand_dims(ops.sin(z), (0,)), ops.expand_dims(ops.cos(z), (0,))
    sign = _column(numpy.array([1.0, -1.0]), z)
    wave, shifted = ops.add(sine, ops.mul(sign, cosine)), ops.sub(ops.mul(sign, sine), cosine)
    out = ops.sub(ops.mul(even, wave), ops.mul(ops.mul(odd, inverse), shifted))
    return ops.mul(out, ops.sqrt(ops.mul(inverse, 1 / math.pi)))
