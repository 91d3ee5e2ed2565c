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
    """Defines the lowering of a primitive, for all platforms or one."""
    prim.def_lowering(rule, platform)
    return rule
