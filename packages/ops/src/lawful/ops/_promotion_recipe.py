"""An elementwise primitive with the promotion and broadcasting of its operands, as one recipe.

A transformation goes through the recipe at once, where conversions, broadcasting and the primitive after them cost it
the time of several operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Recipe,
    Tracer,
    Var,
    as_float,
    avals_of,
    current,
    definitions,
    is_inexact,
    remembered,
)
from lawful.ops._support.promotion import Conversion, PromoteAs, broadcast_steps, broadcast_to, convert, promotion_of

Shape = tuple[int, ...]


def apply_promoted(
    primitive: Primitive, name: str, promote_as: PromoteAs, args: Sequence[Any], operator: bool = False
) -> Any:
    """Applies a primitive to arguments that are promoted and broadcast before.

    Args:
      primitive: a strict elementwise one, of one result and no parameters.
      name: the function that the user called, for messages.
      promote_as: the ufunc or kinds of dtype whose promotion is followed; None for the plain one.
      args: as many arrays, numbers or tracers as the primitive takes.
      operator: whether a Python operator was used, which gives a weak result of weak operands; a function gives a
        strong one.

    Law: it is what converting and broadcasting each argument and then applying the primitive gives.
    """
    trace = current.trace
    recall = trace.recall
    if recall is not None:
        result = recall(primitive, (promote_as, operator), args)
        if result is not None:
            return result
    since = definitions()
    promotion = promotion_of(name, promote_as, args, operator)
    shape = promotion.shape
    operands, left = _converted(args, promotion.conversions, numbers=recall is None or not trace.evaluates_constants)
    if shape is None and not left:
        result = trace.process_primitive(primitive, operands, {})
    else:
        # The types follow from the promotion, if it is known which operands were converted at once.
        recipe = remembered(primitive, (promotion, trace.axis_env, left), _recipe, operands, left, shape)
        if recipe is None:
            return _apply_steps(primitive, operands, left, shape)
        result = trace.follow(recipe, operands)[0]
    if recall is not None:
        trace.note(primitive, operands, since)
    return result


def _apply_steps(primitive: Primitive, operands: Sequence[Any], left: Sequence[Conversion], shape: Shape | None) -> Any:
    """Does what a recipe does, where types are seen for the first time, or the primitive says what is wrong."""
    operands = [*operands]
    for i, dtype, weak in left:
        operands[i] = convert(operands[i], dtype, weak)
    if shape is not None:
        operands = [broadcast_to(x, shape) for x in operands]
    return current.trace.process_primitive(primitive, operands, {})


def _converted(
    args: Sequence[Any], conversions: tuple[Conversion, ...], *, numbers: bool
) -> tuple[Sequence[Any], tuple[Conversion, ...]]:
    """Converts the operands that are constants, at once.

    Args:
      args: the operands.
      conversions: what promotion does to them.
      numbers: whether Python's numbers are converted too, as in a program that is recorded. Otherwise the recipe does
        it: then it can be recalled, as what of it is a number may be another one in each call.

    Returns:
      The operands, and the conversions that are left to do.
    """
    if not conversions:
        return args, ()
    operands, left = [*args], list[Conversion]()
    for conversion in conversions:
        i, dtype, weak = conversion
        x = args[i]
        if isinstance(x, Tracer):
            left.append(conversion)
        elif not numbers and is_inexact(dtype) and (number := as_float(x)) is not None:
            operands[i] = number
            if not (weak and dtype == np.float64):  # which a float is
                left.append(conversion)
        else:
            operands[i] = convert(x, dtype, weak)
    return operands, tuple(left)


def _recipe(
    primitive: Primitive, args: Sequence[Any], conversions: Sequence[Conversion], shape: Shape | None
) -> Recipe:
    avals = avals_of(args)
    eqns: list[JaxprEqn] = []

    def apply(primitive: Primitive, operands: list[Atom], params: dict[str, Any]) -> Var:
        out = Var(primitive.rule("abstract_eval")(*[x.aval for x in operands], **params))
        eqns.append(JaxprEqn(primitive, operands, [out], params))
        return out

    invars = [Var(aval) for aval in avals]
    operands: list[Atom] = [*invars]
    for i, dtype, weak in conversions:
        operands[i] = apply(ops.convert_element_type_p, [operands[i]], {"new_dtype": dtype, "weak_type": weak})
    if shape is not None:
        for i, aval in enumerate(avals):
            for step, params in broadcast_steps(aval.shape, shape):
                operands[i] = apply(step, [operands[i]], params)
    result = apply(primitive, operands, {})
    return Recipe(ClosedJaxpr(Jaxpr([], invars, eqns, [result]), []))
