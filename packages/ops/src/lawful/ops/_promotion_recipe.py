"""An elementwise primitive with the promotion and broadcasting of its operands, as one recipe.

A transformation goes through the recipe at once, where conversions, broadcasting and the primitive after them cost it
the time of several operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Recipe,
    Tracer,
    Var,
    avals_of,
    current,
    definitions,
    remembered,
)
from lawful.ops._promotion import Conversion, broadcast_steps, broadcast_to, convert, promotion_of

Shape = tuple[int, ...]


def apply_promoted(
    primitive: Primitive, name: str, promote_as: np.ufunc | None, args: Sequence[Any], operator: bool = False
) -> Any:
    """Applies a primitive to arguments that are promoted and broadcast before.

    Args:
      primitive: a strict elementwise one, of one result and no parameters.
      name: the function that the user called, for messages.
      promote_as: the ufunc whose promotion is followed; None for the plain one.
      args: as many arrays, numbers or tracers as the primitive takes.
      operator: whether a Python operator was used, which gives a weak result of weak operands; a function gives a
        strong one.

    Law: it is what converting and broadcasting each argument and then applying the primitive gives.
    """
    trace = current.trace
    recall = trace.recall
    if recall is None:
        return _apply(primitive, name, promote_as, args, operator)
    what = (promote_as, operator)
    result = recall(primitive, what, args)
    if result is None:
        since = definitions()
        result = _apply(primitive, name, promote_as, args, operator)
        trace.note(primitive, what, args, since)
    return result


def _apply(primitive: Primitive, name: str, promote_as: np.ufunc | None, args: Sequence[Any], operator: bool) -> Any:
    trace = current.trace
    promotion = promotion_of(name, promote_as, args, operator)
    traced: tuple[Conversion, ...] = ()
    if promotion.conversions:
        args = [*args]
        for conversion in promotion.conversions:
            i, dtype, weak = conversion
            # A constant is converted at once.
            if isinstance(args[i], Tracer):
                traced += (conversion,)
            else:
                args[i] = convert(args[i], dtype, weak)
    shape = promotion.shape
    if shape is None and not traced:
        return trace.process_primitive(primitive, args, {})
    # The types follow from the promotion, if it is known which operands were converted at once.
    recipe = remembered(primitive, (promotion, trace.axis_env, traced), _recipe, args, traced, shape)
    if recipe is not None:
        return trace.follow(recipe, args)[0]
    # The types are seen for the first time, or the primitive says what is wrong.
    args = [*args]
    for i, dtype, weak in traced:
        args[i] = convert(args[i], dtype, weak)
    if shape is not None:
        args = [broadcast_to(x, shape) for x in args]
    return trace.process_primitive(primitive, args, {})


def _recipe(
    primitive: Primitive, args: Sequence[Any], conversions: Sequence[Conversion], shape: Shape | None
) -> Recipe:
    from lawful.ops._conversion import convert_element_type_p

    avals = avals_of(args)
    eqns: list[JaxprEqn] = []

    def apply(primitive: Primitive, operands: list[Atom], params: dict[str, Any]) -> Var:
        out = Var(primitive.rule("abstract_eval")(*[x.aval for x in operands], **params))
        eqns.append(JaxprEqn(primitive, operands, [out], params))
        return out

    invars = [Var(aval) for aval in avals]
    operands: list[Atom] = [*invars]
    for i, dtype, weak in conversions:
        operands[i] = apply(convert_element_type_p, [operands[i]], {"new_dtype": dtype, "weak_type": weak})
    if shape is not None:
        for i, aval in enumerate(avals):
            for step, params in broadcast_steps(aval.shape, shape):
                operands[i] = apply(step, [operands[i]], params)
    result = apply(primitive, operands, {})
    return Recipe(ClosedJaxpr(Jaxpr([], invars, eqns, [result]), []))
