"""Lowering of functions of complex numbers: to StableHLO's functions with branch-cut corrections, or to formulas.

On a branch cut the sign of a zero part selects the side, so that ``f(conj(z)) = conj(f(z))``; and an infinite part
often decides a result even if the other part is NaN. NumPy obeys both rules, StableHLO neither. The corrections and
formulas are in `complex_formulas`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.ops import _elementwise

Lower = Callable[..., Any]


def corrected(name: str, lower: Lower) -> Lower:
    """Returns a lowering that applies the branch-cut correction of this name if the arguments are complex."""

    def lower_either(ctx: Any, *operands: Any) -> Any:
        out = lower(ctx, *operands)
        if ctx.avals_in[0].dtype.kind != "c":
            return out
        return ctx.apply(_elementwise.corrections[name], out, *operands)[0]

    return lower_either


def by_parts(name: str, lower: Lower) -> Lower:
    """Returns a lowering that applies the formula of this name if the arguments are complex."""

    def lower_either(ctx: Any, *operands: Any) -> Any:
        if ctx.avals_in[0].dtype.kind != "c":
            return lower(ctx, *operands)
        return ctx.apply(_elementwise.formulas[name], *operands)[0]

    return lower_either
