"""``map`` and ``associative_scan`` as forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.laws._forms.loop_bodies import results_of, transpose_results
from lawful.laws._forms.operands import draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.scope import Variable
from lawful.laws._programs.syntax import Apply, Assign, Block, Expression, Name, Static, one_or_all

_MAX_ELEMENTS = 9


@form("map", "map({0}, {operands}, batch_size={batch_size})", needs=("map",))
def draw_map(builder: Builder, choose: Chooser) -> None:
    """A sub-program applied to slices, one after the other."""
    most = _MAX_ELEMENTS // builder.frame.elements
    sliced = builder.visible(lambda v: v.aval.ndim > 0 and 0 < v.aval.shape[0] <= most)
    if not sliced:
        return
    first = choose.early(sliced)
    length = first.aval.shape[0]
    xs = [first, *[choose.early([v for v in sliced if v.aval.shape[0] == length]) for _ in range(choose.integer(0, 1))]]
    count = builder.frame.elements
    slices = [
        tuple([row for i in range(count) for row in np.asarray(v.values[i * len(v.values) // count])]) for v in xs
    ]
    parameter = slices[0] if len(xs) == 1 else slices
    drawn = builder.block(choose, [parameter], lambda: draw_results(builder, choose), length)
    if drawn is None:
        return
    block, values = drawn
    stacks = [[_stack(elements, i, count, length) for i in range(count)] for elements in values]
    settings = (("batch_size", choose.one_of((None, None, 1, 2, 3))),)
    builder.nest("map", [block], (one_or_all(expressions(xs)),), one_or_all(stacks), settings)


def _stack(elements: Any, index: int, count: int, length: int) -> Any:
    """Returns the results of all slices, for one batch element."""
    results = [elements[(index * length + i) * len(elements) // (count * length)] for i in range(length)]
    return np.stack([np.asarray(x) for x in results])


_ASSOCIATIVE = ("operator.add", "operator.mul", "ops.max", "ops.min")


def _number(builder: Builder, choose: Chooser, dtype: np.dtype[Any]) -> Expression | None:
    """Returns a number k of a dtype, or None: like +, the operation a + b + k is associative; so are the others."""
    candidates = builder.visible(lambda v: v.aval.dtype == dtype)
    index = choose.integer(0, len(candidates))
    if index == len(candidates):
        return None
    operand = candidates[index].operand
    axes = tuple(range(candidates[index].aval.ndim))
    return (operand.wrapped("ops.reduce_sum", axes=axes) if axes else operand).expression


def _associative(builder: Builder, choose: Chooser, elems: list[Variable]) -> Block:
    """Returns an associative function; on pairs it composes the maps x ↦ a x + b."""
    left, right, result = (builder.names.variable() for _ in range(3))
    if len(elems) == 1:
        (elem,) = elems
        function = choose.one_of(_ASSOCIATIVE[: 2 if builder.settings.smooth or elem.kind == "c" else 4])
        value = Apply(function, (Name(left), Name(right)))
        number = _number(builder, choose, elem.aval.dtype)
        value = value if number is None else Apply(function, (value, number))
        return Block(builder.names.function(), (left, right), (Assign(result, value),), result)
    other = builder.names.variable()

    def part(name: str, i: int) -> Expression:
        return Apply("operator.getitem", (Name(name), Static(i)))

    slope = Apply("operator.mul", (part(left, 0), part(right, 0)))
    start = Apply("operator.add", (Apply("operator.mul", (part(right, 0), part(left, 1))), part(right, 1)))
    equations = (Assign(result, slope), Assign(other, start))
    return Block(builder.names.function(), (left, right), equations, (result, other))


@form("associative_scan", "associative_scan({0}, {operands}, {reverse}, {axis})", needs=("associative_scan",))
def draw_associative_scan(builder: Builder, choose: Chooser) -> None:
    """Partial combinations of the elements of an array, or of pairs of elements of two arrays."""

    def is_combined(v: Variable) -> bool:
        return v.aval.ndim > 0 and v.kind in "fic" and np.asarray(v.value).dtype.kind in "fic"

    variables = builder.visible(is_combined)
    if not variables:
        return
    first = choose.early(variables)
    alike = [v for v in variables if v.aval == first.aval]
    elems = [first] if choose.integer(0, 1) == 0 else [first, choose.early(alike)]
    axis = choose.integer(0, first.aval.ndim - 1)
    reverse = choose.integer(0, 2) == 2
    block = _associative(builder, choose, elems)

    def run(functions: Any, *given: Any) -> Any:
        rows = [np.moveaxis(np.asarray(x), axis, 0) for x in given]
        rows = [x[::-1] for x in rows] if reverse else rows
        totals: list[Any] = []
        for row in zip(*rows, strict=True):
            element = one_or_all(list(row))
            totals.append(functions[0](totals[-1], element) if totals else element)
        if not totals:
            return one_or_all([np.asarray(x) for x in given])
        stacks = [np.stack([np.asarray(t[i] if len(elems) > 1 else t) for t in totals]) for i in range(len(elems))]
        stacks = [x[::-1] for x in stacks] if reverse else stacks
        return one_or_all([np.moveaxis(x, 0, axis) for x in stacks])

    found = results_of(builder, [block], elems, run)
    if found is None:
        return
    from_the_end = axis - first.aval.ndim if choose.integer(0, 2) == 2 else axis
    settings = (("reverse", reverse), ("axis", from_the_end))
    builder.nest("associative_scan", [block], (one_or_all(expressions(elems)),), transpose_results(found), settings)
