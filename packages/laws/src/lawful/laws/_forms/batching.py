"""``vmap`` as a form."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.scope import Elements, Variable
from lawful.laws._programs.syntax import one_or_all

# The largest number of batch elements, of all enclosing mapped functions together.
_MAX_ELEMENTS = 9


@form("vmap", "vmap({0}, in_axes={in_axes}, out_axes={out_axes})({operands})", needs=("vmap",))
def draw_vmap(builder: Builder, choose: Chooser) -> None:
    """A sub-program mapped over an axis of some operands. Variables that it closes over are not mapped."""
    draw_mapped(builder, choose, "vmap")


def draw_mapped(builder: Builder, choose: Chooser, name: str) -> None:
    """Adds a sub-program that a form maps over an axis of some operands."""
    most = _MAX_ELEMENTS // builder.frame.elements
    mapped = builder.visible(lambda v: any(0 < size <= most for size in v.aval.shape))
    if not mapped:
        return
    first = choose.early(mapped)
    axis = choose.one_of([i for i, size in enumerate(first.aval.shape) if 0 < size <= most])
    size = first.aval.shape[axis]
    operands = [first]
    in_axes: list[int | None] = [_from_either_end(choose, axis, first.aval.ndim)]
    for other in draw_operands(builder, choose, 0)[:1]:
        axes = [i for i, length in enumerate(other.aval.shape) if length == size]
        index = choose.integer(0, len(axes))
        operands.append(other)
        in_axes.append(None if index == len(axes) else _from_either_end(choose, axes[index], other.aval.ndim))
    if choose.integer(0, 2) == 2:
        operands.reverse()
        in_axes.reverse()
    parameters = [_batch(v, axis, size, builder.frame.elements) for v, axis in zip(operands, in_axes, strict=True)]
    drawn = builder.block(choose, parameters, lambda: draw_results(builder, choose), elements=size)
    if drawn is None:
        return
    block, values = drawn
    out_axes = [_from_either_end(choose, choose.integer(0, np.ndim(v[0])), np.ndim(v[0]) + 1) for v in values]
    results = [
        _stacked(elements, axis, size, builder.frame.elements) for elements, axis in zip(values, out_axes, strict=True)
    ]
    given = tuple(in_axes) if len(set(in_axes)) > 1 or choose.integer(0, 1) else in_axes[0]
    settings = (("in_axes", given), ("out_axes", one_or_all(out_axes)))
    builder.nest(name, [block], expressions(operands), one_or_all(results), settings)


def _from_either_end(choose: Chooser, axis: int, ndim: int) -> int:
    """Returns an axis, counted from the front or from the end."""
    return axis - ndim if choose.integer(0, 2) == 2 else axis


def _batch(variable: Variable, axis: int | None, size: int, outer: int) -> Elements:
    """Returns the values of a parameter, one for each batch element."""
    if axis is None:
        return variable.values
    values = [variable.values[i * len(variable.values) // outer] for i in range(outer)]
    return tuple([np.take(value, i, axis=axis) for value in values for i in range(size)])


def _stacked(elements: Elements, axis: int, size: int, outer: int) -> list[Any]:
    """Returns a result, one value for each outer batch element."""
    count = outer * size
    every = [np.asarray(elements[i * len(elements) // count]) for i in range(count)]
    return [np.stack(every[i * size : (i + 1) * size], axis=axis) for i in range(outer)]
