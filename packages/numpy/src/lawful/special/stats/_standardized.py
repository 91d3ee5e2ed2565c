"""Helpers that distributions share: location and scale, counts, and logarithms of complements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lawful import ops
from lawful.core import get_aval, kind, promote_dtypes
from lawful.special._arguments import floats


def standardized(name: str, x: Any, *rest: Any, loc: Any, scale: Any, positive_rest: bool = True) -> list[Any]:
    """Returns ``(x - loc) / scale``, further parameters, and the scale, of one floating dtype and shape, or scalars.

    The first is NaN, as in SciPy, where the scale is not positive, or a further parameter is not if it should be.
    """
    given = (*(rest if positive_rest else ()), scale)
    x, *others, loc, scale = floats(name, x, *rest, loc, scale, keep_scalars=True)
    y = ops.div(ops.sub(x, loc), scale)
    return [nan_unless_positive(y, given, [*(others if positive_rest else ()), scale]), *others, scale]


def scaled(name: str, quantile: Any, loc: Any, scale: Any) -> Any:
    """Returns ``quantile * scale + loc``; NaN where the scale is not positive."""
    given = scale
    quantile, loc, scale = floats(name, quantile, loc, scale)
    return ops.add(ops.mul(nan_unless_positive(quantile, [given], [scale]), scale), loc)


def probability(name: str, p: Any, *parameters: Any) -> Any:
    """Returns a probability in the floating dtype of the result, which the parameters decide too."""
    (p,) = floats(name, p)
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in map(get_aval, (p, *parameters))])
    return ops.convert_element_type(p, dtype) if kind(dtype) == "f" and dtype != get_aval(p).dtype else p


def nan_unless_positive(y: Any, given: Sequence[Any], parameters: Sequence[Any]) -> Any:
    """Returns ``y``, NaN where a parameter is not positive; those that are given as positive numbers need no test."""
    for number, parameter in zip(given, parameters, strict=True):
        if not (type(number) in (int, float) and number > 0):
            y = ops.where(ops.gt(parameter, 0), y, math.nan)
    return y


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
