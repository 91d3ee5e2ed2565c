"""What distributions share: location and scale, counts, and logarithms of complements."""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.special._arguments import floats


def standardized(name: str, x: Any, *rest: Any, loc: Any, scale: Any) -> list[Any]:
    """Returns ``(x - loc) / scale``, further parameters, and the scale, of one floating dtype and shape, or scalars."""
    x, *others, loc, scale = floats(name, x, *rest, loc, scale, keep_scalars=True)
    return [ops.div(ops.sub(x, loc), scale), *others, scale]


def scaled(name: str, quantile: Any, loc: Any, scale: Any) -> Any:
    """Returns ``quantile * scale + loc``."""
    quantile, loc, scale = floats(name, quantile, loc, scale)
    return ops.add(ops.mul(quantile, scale), loc)


def counted(k: Any, loc: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Returns ``k - loc``, and where that is no integer from ``low`` to ``high``; there it is replaced by ``low``."""
    n = ops.sub(k, loc)
    impossible = ops.bitwise_or(ops.bitwise_or(ops.lt(n, low), ops.gt(n, high)), ops.lt(ops.floor(n), n))
    return ops.where(impossible, low, n), impossible


def log_of_complement(x: Any) -> Any:
    """Returns ``log(1 - exp(-x))`` for positive numbers, exact where ``x`` is small and where it is large."""
    is_small = ops.lt(x, math.log(2))
    of_small = ops.log(ops.neg(ops.expm1(ops.neg(ops.where(is_small, x, 1)))))
    return ops.where(is_small, of_small, ops.log1p(ops.neg(ops.exp(ops.neg(ops.where(is_small, 1, x))))))


def log_of_probability(p: Any, rest: Any) -> Any:
    """Returns the logarithm of a probability, exact near 0 and near 1; ``rest`` is that of the opposite."""
    is_small = ops.lt(p, 0.5)
    of_rest = ops.log1p(ops.neg(ops.where(is_small, 0, rest)))
    return ops.where(is_small, ops.log(ops.where(is_small, p, 1)), of_rest)
