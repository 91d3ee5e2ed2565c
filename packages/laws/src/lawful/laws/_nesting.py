"""Equations with sub-programs: ``jit`` and ``cond``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ShapedArray, get_aval
from lawful.laws._choose import Chooser
from lawful.laws._generation import Builder
from lawful.laws._operands import adapted
from lawful.laws._program import Name, Static
from lawful.laws._scope import Operand, Variable, applied


def _draw_operands(builder: Builder, choose: Chooser, least: int) -> list[Variable]:
    variables = builder.visible()
    return [variables[choose.integer(0, min(len(variables) - 1, 4))] for _ in range(choose.integer(least, 2))]


def _results(builder: Builder, choose: Chooser) -> list[Operand]:
    """Returns what a sub-program gives: variables of its own, the newest first, or of those around it."""
    variables = builder.visible()
    chosen = [variables[choose.integer(0, min(len(variables) - 1, 3))] for _ in range(choose.integer(1, 2))]
    return [variable.operand for variable in chosen]


def draw_jit(builder: Builder, choose: Chooser) -> None:
    """A compiled sub-program."""
    if builder.frame.depth >= builder.settings.max_depth:
        return
    operands = _draw_operands(builder, choose, 1)
    drawn = builder.block(choose, operands, lambda: _results(builder, choose))
    if drawn is not None:
        block, values = drawn
        builder.nest("jit", [block], operands, values, (("backend", builder.settings.backend),))


def _predicate(builder: Builder, choose: Chooser) -> Variable | None:
    """Returns a scalar variable to choose by: one that is there, or a new comparison."""
    scalars = builder.visible(lambda v: v.kind in "bi" and not v.aval.shape)
    index = choose.integer(0, len(scalars))
    if index < len(scalars):
        return scalars[index]
    compared = builder.visible(lambda v: v.kind in "fi")
    if not compared:
        return None
    variable = compared[choose.integer(0, len(compared) - 1)]
    operand = variable.operand
    if variable.aval.shape:
        operand = operand.wrapped("ops.reduce_sum", axes=tuple(range(variable.aval.ndim)))
    bound = choose.one_of((0.3, -0.3))
    function = choose.one_of(("operator.lt", "operator.ge"))
    return builder.assign(function, [operand, Operand(Static(bound), bound)])


def _strong(operand: Operand) -> ShapedArray:
    aval = get_aval(operand.value)
    return ShapedArray(aval.shape, aval.dtype)


def _of_type(builder: Builder, choose: Chooser, aval: ShapedArray) -> Operand:
    """Returns an operand of a type: a variable that has it, or one made to have it."""
    variables = builder.visible()
    same = [v for v in variables if _strong(v.operand) == aval]
    index = choose.integer(0, len(same))
    if index < len(same):
        return same[index].operand
    variable = variables[choose.integer(0, min(len(variables) - 1, 3))]
    # From one kind of numbers to another only where nothing jumps.
    if variable.aval.dtype != aval.dtype:
        if variable.kind not in "bi" or aval.dtype.kind == "b":
            return applied("ops.full", (), shape=aval.shape, fill_value=aval.dtype.type(1))
        converted = variable.operand.wrapped("ops.convert_element_type", new_dtype=aval.dtype)
        if converted.value.shape == aval.shape:
            return converted
        return applied("ops.full", (), shape=aval.shape, fill_value=aval.dtype.type(1))
    return adapted(variable, aval.shape)


def draw_cond(builder: Builder, choose: Chooser) -> None:
    """A choice between two sub-programs."""
    if builder.frame.depth >= builder.settings.max_depth:
        return
    predicate = _predicate(builder, choose)
    if predicate is None:
        return
    operands = _draw_operands(builder, choose, 0)
    on_true = builder.block(choose, operands, lambda: _results(builder, choose))
    if on_true is None:
        return
    types = [_strong(Operand(Name(""), value)) for value in on_true[1]]
    on_false = builder.block(choose, operands, lambda: [_of_type(builder, choose, aval) for aval in types])
    if on_false is None:
        return
    taken = on_true if bool(np.asarray(predicate.value)) else on_false
    # Both branches give strong results.
    values: list[Any] = [np.asarray(value)[()] for value in taken[1]]
    builder.nest("cond", [on_true[0], on_false[0]], operands, values, (("predicate", predicate.operand.expression),))
