"""Distributions by their location and scale."""

from __future__ import annotations

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
