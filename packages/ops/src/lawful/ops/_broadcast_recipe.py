"""An elementwise primitive with the broadcasting of its operands, as one recipe.

A transformation goes through the recipe at once, where broadcasting and the primitive after it cost it the time of two
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Recipe,
    ShapedArray,
    Var,
    current,
    get_aval,
    remembered,
)
from lawful.ops._promotion import broadcast_steps, broadcast_to

Shape = tuple[int, ...]


def apply_broadcast(primitive: Primitive, operands: Sequence[Any], shape: Shape) -> Any:
    """Applies a primitive to operands that are broadcast to a shape before.

    Args:
      primitive: a strict elementwise one, of one result and no parameters.
      operands: arrays, numbers or tracers, of the primitive's dtype.
      shape: what they broadcast to.

    Law: it is what broadcasting each operand and then applying the primitive gives.
    """
    trace = current.trace
    avals = tuple([get_aval(x) for x in operands])
    recipe = remembered(primitive, ("broadcast", trace.axis_env, avals), _recipe, avals, shape)
    if recipe is None:  # the primitive says what is wrong
        return trace.process_primitive(primitive, [broadcast_to(x, shape) for x in operands], {})
    return trace.follow(recipe, operands)[0]


def _recipe(primitive: Primitive, avals: Sequence[ShapedArray], shape: Shape) -> Recipe:
    eqns: list[JaxprEqn] = []

    def apply(primitive: Primitive, operands: list[Atom], params: dict[str, Any]) -> Var:
        out = Var(primitive.rule("abstract_eval")(*[x.aval for x in operands], **params))
        eqns.append(JaxprEqn(primitive, operands, [out], params))
        return out

    invars = [Var(aval) for aval in avals]
    operands: list[Atom] = []
    for var in invars:
        out = var
        for step, params in broadcast_steps(var.aval.shape, shape):
            out = apply(step, [out], params)
        operands.append(out)
    result = apply(primitive, operands, {})
    return Recipe(ClosedJaxpr(Jaxpr([], invars, eqns, [result]), []))
