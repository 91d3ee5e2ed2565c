"""The bodies of loops: drawn at the values of several iterations at once, and then run one after the other.

The carry after the first iteration is known only once the body is drawn. So a body is drawn to be defined for other
values too, and a loop whose true values are large, or near a kink, is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import get_aval, is_inexact, kind
from lawful.laws._law.smooth import is_smooth
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.interpreter import function_of
from lawful.laws._programs.scope import Elements, Operand, Variable, by_element, static
from lawful.laws._programs.syntax import Block, Name, Static
from lawful.laws.systems import lawful

#: The number of iterations for which a body is drawn.
ITERATIONS: Final = 3
#: The largest trip count.
MAX_ITERATIONS: Final = 3

_MAX_ELEMENTS, _LARGEST = 9, 64.0

Scope = dict[str, Any]
#: Computes the results of a loop from functions and operands.
Run = Callable[..., Any]


def has_room(builder: Builder) -> bool:
    """Whether a loop fits here: its body has values for each iteration."""
    return builder.frame.elements * ITERATIONS <= _MAX_ELEMENTS


def scopes(builder: Builder) -> list[Scope]:
    """Returns the values of all variables in scope, for each batch element."""
    visible = [(v.expression.text, v.values) for v in builder.visible() if isinstance(v.expression, Name)]
    names = [name for name, _ in visible]
    elements = by_element([(None,) * builder.frame.elements, *[values for _, values in visible]])
    return [builder.inputs | dict(zip(names, element[1:], strict=True)) for element in elements]


def strong_value(x: Any) -> Any:
    """Returns a value as an array; a Python number is converted."""
    return np.asarray(x)[()] if get_aval(x).weak_type else x


def in_each_iteration(builder: Builder, variable: Variable) -> Elements:
    """Returns possible values of a carry in the iterations of a loop, given its first value."""
    count = builder.frame.elements
    first = [strong_value(variable.values[i * len(variable.values) // count]) for i in range(count)]
    return tuple([y for x in first for y in (x, *[_other(x, iteration) for iteration in range(1, ITERATIONS)])])


def _other(x: Any, iteration: int) -> Any:
    """Returns another value of the same type, with elements of many sizes and both signs."""
    aval = get_aval(x)
    numbers = np.arange(math.prod(aval.shape)).reshape(aval.shape) + 7 * iteration
    if is_inexact(aval.dtype):
        curve = 10 * np.sin(numbers)
        return (curve + 5j * np.cos(numbers) if kind(aval.dtype) == "c" else curve).astype(aval.dtype)[()]
    numbers = numbers % 2 if aval.dtype.kind == "b" else numbers % 9 - (0 if aval.dtype.kind == "u" else 4)
    return numbers.astype(aval.dtype)[()]


def keeps_types(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether values have the same types as others, up to weakness."""
    return all(
        get_aval(x).update(weak_type=False) == get_aval(y).update(weak_type=False)
        for x, y in zip(before, after, strict=True)
    )


def is_moderate(values: Any) -> bool:
    """Whether all numbers of a tree are finite and not large."""
    numbers = [np.abs(np.asarray(x)) for x in tree.leaves(values) if np.asarray(x).dtype.kind != "b"]
    return all(bool(np.all(x <= _LARGEST)) for x in numbers)


def require_moderate(values: Any) -> None:
    """Raises OverflowError if a number of a tree is infinite or large."""
    if not is_moderate(values):
        raise OverflowError("a carry grows large")


def limit(builder: Builder, choose: Chooser) -> Operand:
    """Returns a small integer, which may be negative: a variable's remainder, or a static one."""
    scalars = builder.visible(lambda v: v.kind == "i" and not v.aval.shape)
    index = choose.integer(0, len(scalars))
    if index == len(scalars):
        return static(Static(choose.integer(0, MAX_ITERATIONS)))
    return scalars[index].operand.wrapped("ops.rem", Static(MAX_ITERATIONS + 1))


def results_of(builder: Builder, blocks: Sequence[Block], operands: Sequence[Variable], run: Run) -> list[Any] | None:
    """Returns the results of a loop for each batch element.

    Args:
      builder: the program.
      blocks: the functions that the loop takes.
      operands: what it is called with.
      run: of these functions and values, what the loop does; it raises ArithmeticError where a value grows large.

    Returns:
      None if it shall not be part of the program: its values are large, or it is not smooth where it has to be.
    """
    found = []
    values = by_element([(None,) * builder.frame.elements, *[v.values for v in operands]])
    for scope, (_, *given) in zip(scopes(builder), values, strict=True):
        leaves, treedef = tree.flatten((scope, given))

        def call(*moved: Any, treedef: Any = treedef) -> Any:
            around, args = tree.unflatten(treedef, moved)
            return run([function_of(block, around, lawful) for block in blocks], *args)

        try:
            here = call(*leaves)
            if not is_moderate(here) or (builder.settings.smooth and not is_smooth(call, leaves, here, constant=False)):
                return None
        except Exception:  # a planted fault, or a value that grows large nearby
            return None
        found.append(here)
    return found


def transpose_results(results: Sequence[Any]) -> Any:
    """Transposes a list of trees, one for each batch element, to a tree of lists."""
    if isinstance(results[0], tuple):
        return tuple([transpose_results(parts) for parts in zip(*results, strict=True)])
    return list(results)
