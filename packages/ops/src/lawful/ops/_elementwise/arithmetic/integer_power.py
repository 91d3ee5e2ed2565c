"""Powers of integers with exponents that are operands, compiled.

StableHLO's ``power`` reads the lowest six bits of an integer exponent. NumPy reads all of them, and wraps around. So a
loop reads the others, and ends with the highest one: most exponents have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.ops._support.iteration import Iteration

_BITS = 6
_MOST = 2**_BITS - 1


def _start(x: Any, y: Any) -> list[Any]:
    rest = np.where(y > _MOST, y >> _BITS, 0)
    for _ in range(_BITS):
        x = x * x
    return [rest > 0, rest, x, np.ones_like(x)]


def _step(active: Any, rest: Any, square: Any, product: Any) -> list[Any]:
    product = np.where(rest & 1 == 1, product * square, product)
    rest = rest >> 1
    return [rest > 0, rest, square * square, product]


_HIGHER_BITS = Iteration(_start, _step)


def _lowest_bits(y: Any) -> Any:
    return np.where(y > _MOST, y & _MOST, y)


def lower_power(ctx: Any, x: Any, y: Any) -> Any:
    """Lowers a power of operands of one dtype."""
    if ctx.avals_in[0].dtype.kind not in "iu":
        return ctx.op("power", x, y)
    product = _HIGHER_BITS.lower(ctx, x, y)[-1]
    (lowest,) = ctx.apply(_lowest_bits, y)
    return ctx.hlo.multiply(ctx.hlo.power(x, lowest), product)
