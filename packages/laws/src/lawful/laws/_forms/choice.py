"""``cond`` and ``switch`` as forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.laws._forms.operands import draw_operands, draw_results, expressions, of_type, strong
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.scope import Elements, Variable, by_element, static
from lawful.laws._programs.syntax import Block, Static, one_or_all


def _predicate(builder: Builder, choose: Chooser) -> Variable | None:
    """Returns a scalar variable to choose by: an existing one, or a new comparison."""
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
    return builder.assign(function, [operand, static(Static(bound))])


def _branches(
    builder: Builder, choose: Chooser, operands: Sequence[Variable], count: int
) -> list[tuple[Block, list[Elements]]] | None:
    """Draws sub-programs with equal result types."""
    parameters = [v.values for v in operands]
    first = builder.block(choose, parameters, lambda: draw_results(builder, choose))
    if first is None:
        return None
    types = [strong(Variable(Static(None), values).aval) for values in first[1]]
    branches = [first]
    for _ in range(count - 1):
        drawn = builder.block(choose, parameters, lambda: [of_type(builder, choose, aval) for aval in types])
        if drawn is None:
            return None
        branches.append(drawn)
    return branches


def _chosen(indices: Elements, branches: Sequence[list[Elements]]) -> Any:
    """Returns the results of the branch taken, for each batch element; they are strong."""
    results = []
    for alternatives in zip(*branches, strict=True):
        elements = by_element([indices, *alternatives])
        results.append(
            [np.asarray(element[1 + min(max(int(element[0]), 0), len(branches) - 1)])[()] for element in elements]
        )
    return one_or_all(results)


@form("cond", "cond({predicate}, {0}, {1}, {operands})", needs=("cond",))
def draw_cond(builder: Builder, choose: Chooser) -> None:
    """A choice between two sub-programs."""
    predicate = _predicate(builder, choose)
    if predicate is None:
        return
    operands = draw_operands(builder, choose, 0)
    branches = _branches(builder, choose, operands, 2)
    if branches is not None:
        (on_true, true_values), (on_false, false_values) = branches
        taken = tuple([bool(x) for x in predicate.values])
        results = _chosen(taken, [false_values, true_values])
        settings = (("predicate", predicate.expression),)
        builder.nest("cond", [on_true, on_false], expressions(operands), results, settings)


@form("switch", "switch({index}, [{blocks}], {operands})", needs=("switch",))
def draw_switch(builder: Builder, choose: Chooser) -> None:
    """A choice among sub-programs by an integer, which may be out of range."""
    scalars = builder.visible(lambda v: v.kind in "iu" and not v.aval.shape)
    index = choose.integer(0, len(scalars))
    number = scalars[index] if index < len(scalars) else None
    chosen = number.operand if number is not None else static(Static(choose.integer(0, 2)))
    operands = draw_operands(builder, choose, 0)
    branches = _branches(builder, choose, operands, choose.integer(1, 3))
    if branches is not None:
        results = _chosen(chosen.values, [values for _, values in branches])
        settings = (("index", chosen.expression),)
        builder.nest("switch", [block for block, _ in branches], expressions(operands), results, settings)
