"""How functions of complex numbers are lowered: to StableHLO's, and what these leave out.

On the cuts between branches a function goes by the sign of a zero part, so that the function of the conjugate is the
conjugate of the function; and an infinite part often decides a result of which the other part is NaN. StableHLO's
functions follow neither rule. Here they do, as NumPy's do, by the formulas of `complex_formulas`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.ops import _elementwise

Lower = Callable[..., Any]


def mended(name: str, lower: Lower) -> Lower:
    """Returns a lowering whose result is mended where the arguments are complex, by the formula of this name."""

    def lower_either(ctx: Any, *operands: Any) -> Any:
        out = lower(ctx, *operands)
        if ctx.avals_in[0].dtype.kind != "c":
            return out
        return ctx.apply(_elementwise.mends[name], out, *operands)[0]

    return lower_either


def by_parts(name: str, lower: Lower) -> Lower:
    """Returns a lowering that, where the arguments are complex, is the formula of this name."""

    def lower_either(ctx: Any, *operands: Any) -> Any:
        if ctx.avals_in[0].dtype.kind != "c":
            return lower(ctx, *operands)
        return ctx.apply(_elementwise.formulas[name], *operands)[0]

    return lower_either
