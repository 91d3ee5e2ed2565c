"""Operands and results of sub-programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.core import ShapedArray
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.operands import adapted
from lawful.laws._programs.scope import Operand, Variable, applied
from lawful.laws._programs.syntax import Expression


def draw_operands(
    builder: Builder, choose: Chooser, least: int, accept: Callable[[Variable], bool] | None = None
) -> list[Variable]:
    """Returns up to two accepted variables, of the newest; none if none is accepted."""
    variables = builder.visible(accept)
    if not variables:
        return []
    return [choose.early(variables) for _ in range(choose.integer(least, 2))]


def draw_results(
    builder: Builder, choose: Chooser, accept: Callable[[Variable], bool] | None = None, most: int = 2
) -> list[Operand] | None:
    """Returns the results of a sub-program: its own variables, newest first, or enclosing ones."""
    variables = builder.visible(accept)
    if not variables:
        return None
    return [choose.early(variables).operand for _ in range(choose.integer(1, most))]


def expressions(variables: list[Variable] | list[Operand]) -> tuple[Expression, ...]:
    """Returns the expressions of variables."""
    return tuple([variable.expression for variable in variables])


def strong(aval: ShapedArray) -> ShapedArray:
    """Returns the array type for the type of a Python number."""
    return ShapedArray(aval.shape, aval.dtype)


def of_type(builder: Builder, choose: Chooser, aval: ShapedArray) -> Operand:
    """Returns an operand of a type: a variable that has it, or a converted one."""
    variables = builder.visible()
    same = [v for v in variables if strong(v.aval) == aval]
    index = choose.integer(0, len(same))
    if index < len(same):
        return same[index].operand
    variable = choose.early(variables)
    # Convert only where the conversion does not jump.
    if variable.aval.dtype != aval.dtype:
        if variable.kind not in "bi" or aval.dtype.kind == "b":
            return applied("ops.full", (), shape=aval.shape, fill_value=aval.dtype.type(1))
        converted = variable.operand.wrapped("ops.convert_element_type", new_dtype=aval.dtype)
        if np.shape(converted.value) == aval.shape:
            return converted
        return applied("ops.full", (), shape=aval.shape, fill_value=aval.dtype.type(1))
    return adapted(variable, aval.shape)
