"""``jax.interpreters.mlir``: lowering rules. A rule is ``rule(ctx, *operands, **params)``; StableHLO is ``ctx.hlo``."""

from collections.abc import Callable
from typing import Any

from lawful.core import Primitive

__all__ = ["register_lowering"]


def register_lowering(
    prim: Primitive,
    rule: Callable[..., Any],
    platform: str | None = None,
    inline: bool = True,
    cacheable: bool = True,
) -> Callable[..., Any]:
    """Defines the lowering of a primitive, for all platforms or one.

    >>> double_p = Primitive("double")
    >>> rule = register_lowering(double_p, lambda ctx, x: ctx.hlo.add(x, x))
    >>> double_p.lowering_rule("cpu") is rule
    True
    """
    prim.def_lowering(rule, platform)
    return rule
