"""``jax.interpreters.mlir``: lowering rules. A rule is ``rule(ctx, *operands, **params)``; StableHLO is ``ctx.hlo``."""

import functools as _functools
from collections.abc import Callable
from typing import Any

from lawful.core import Primitive

__all__ = ["lower_fun", "register_lowering"]


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


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Callable[..., Any]:
    """Returns the lowering rule that a Python function of arrays gives.

    Args:
      fun: made of operations on arrays; called with the parameters of the equation too.
      multiple_results: whether it returns a sequence of arrays, rather than one.

    >>> double_p = Primitive("double")
    >>> _ = double_p.def_abstract_eval(lambda x: x)
    >>> _ = register_lowering(double_p, lower_fun(lambda x: 2.0 * x, multiple_results=False))
    >>> import lawful.jax as jax
    >>> float(jax.jit(double_p.bind)(3.0))
    6.0
    """

    def rule(ctx: Any, *operands: Any, **params: Any) -> Any:
        outs = ctx.apply(_functools.partial(fun, **params), *operands)
        return outs if multiple_results else outs[0]

    return rule
