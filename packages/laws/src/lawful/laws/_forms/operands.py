"""What sub-programs are called with, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.laws._builder import Builder
from lawful.laws._choose import Chooser
from lawful.laws._program import Expression
from lawful.laws._scope import Operand, Variable


def draw_operands(
    builder: Builder, choose: Chooser, least: int, accept: Callable[[Variable], bool] | None = None
) -> list[Variable]:
    """Returns up to two variables, of the newest; none if none is accepted."""
    variables = builder.visible(accept)
    if not variables:
        return []
    return [choose.early(variables) for _ in range(choose.integer(least, 2))]


def draw_results(
    builder: Builder, choose: Chooser, accept: Callable[[Variable], bool] | None = None, most: int = 2
) -> list[Operand] | None:
    """Returns what a sub-program gives: variables of its own, the newest first, or of those around it."""
    variables = builder.visible(accept)
    if not variables:
        return None
    return [choose.early(variables).operand for _ in range(choose.integer(1, most))]


def expressions(variables: list[Variable] | list[Operand]) -> tuple[Expression, ...]:
    """Returns the expressions of variables."""
    return tuple([variable.expression for variable in variables])


def one_or_all(values: list[Any]) -> Any:
    """Returns a single value as it is, and several as a tuple: as functions return them."""
    return values[0] if len(values) == 1 else tuple(values)
