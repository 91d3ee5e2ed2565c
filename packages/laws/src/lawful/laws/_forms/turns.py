"""The bodies of loops: drawn for several turns at once, and run turn by turn.

What a carry is after the first turn is known only when the body is there. So a body is drawn to have a meaning for
other values too, and a loop whose true values turn out large, or near a kink, is not taken.
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
from lawful.laws._programs.interpreter import function_of
from lawful.laws._programs.scope import Lanes, Variable, by_lane
from lawful.laws._programs.syntax import Block, Name
from lawful.laws.systems import lawful

#: For how many turns a body is drawn.
TURNS: Final = 3

_MOST_LANES, _LARGEST = 9, 64.0

Scope = dict[str, Any]
#: Gives what a loop does, of functions and operands.
Run = Callable[..., Any]


def has_room(builder: Builder) -> bool:
    """Whether there may be a loop here: its body has values for each turn."""
    return builder.frame.lanes * TURNS <= _MOST_LANES


def scopes(builder: Builder) -> list[Scope]:
    """Returns the values of all variables in scope, in each lane."""
    visible = [(v.expression.text, v.values) for v in builder.visible() if isinstance(v.expression, Name)]
    names = [name for name, _ in visible]
    lanes = by_lane([(None,) * builder.frame.lanes, *[values for _, values in visible]])
    return [builder.inputs | dict(zip(names, lane[1:], strict=True)) for lane in lanes]


def strong_value(x: Any) -> Any:
    """Returns a value as an array, also if it is a Python number."""
    return np.asarray(x)[()] if get_aval(x).weak_type else x


def in_each_turn(builder: Builder, variable: Variable) -> Lanes:
    """Returns what a carry that begins as a variable may be in the turns of a loop."""
    count = builder.frame.lanes
    first = [strong_value(variable.values[i * len(variable.values) // count]) for i in range(count)]
    return tuple([y for x in first for y in (x, *[_other(x, turn) for turn in range(1, TURNS)])])


def _other(x: Any, turn: int) -> Any:
    """Returns a value of the type of another one, with elements of many sizes and both signs."""
    aval = get_aval(x)
    places = np.arange(math.prod(aval.shape)).reshape(aval.shape) + 7 * turn
    if is_inexact(aval.dtype):
        curve = 10 * np.sin(places)
        return (curve + 5j * np.cos(places) if kind(aval.dtype) == "c" else curve).astype(aval.dtype)[()]
    numbers = places % 2 if aval.dtype.kind == "b" else places % 9 - (0 if aval.dtype.kind == "u" else 4)
    return numbers.astype(aval.dtype)[()]


def keeps_types(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether values have the types of others, but for their weakness."""
    return all(
        get_aval(x).update(weak_type=False) == get_aval(y).update(weak_type=False)
        for x, y in zip(before, after, strict=True)
    )


def is_moderate(values: Any) -> bool:
    """Whether all numbers in a tree are finite and not large."""
    numbers = [np.abs(np.asarray(x)) for x in tree.leaves(values) if np.asarray(x).dtype.kind != "b"]
    return all(bool(np.all(x <= _LARGEST)) for x in numbers)


def results_of(builder: Builder, blocks: Sequence[Block], operands: Sequence[Variable], run: Run) -> list[Any] | None:
    """Returns what a loop gives in each lane.

    Args:
      builder: the program.
      blocks: the functions that the loop takes.
      operands: what it is called with.
      run: of these functions and values, what the loop does; it raises ArithmeticError where a value grows large.

    Returns:
      None if it shall not be part of the program: its values are large, or it is not smooth where it has to be.
    """
    found = []
    values = by_lane([(None,) * builder.frame.lanes, *[v.values for v in operands]])
    for scope, (_, *given) in zip(scopes(builder), values, strict=True):
        leaves, treedef = tree.flatten((scope, given))

        def call(*moved: Any, treedef: Any = treedef) -> Any:
            around, args = tree.unflatten(treedef, moved)
            return run([function_of(block, around, lawful) for block in blocks], *args)

        try:
            here = call(*leaves)
            if not is_moderate(here) or (builder.settings.smooth and not is_smooth(call, leaves, here, constant=False)):
                return None
        except Exception:  # a fault that is planted; or a value grows large near here
            return None
        found.append(here)
    return found


def in_lanes(results: Sequence[Any]) -> Any:
    """Returns a tree of tuples, each leaf a list of its lanes, of such trees in each lane."""
    if isinstance(results[0], tuple):
        return tuple([in_lanes(parts) for parts in zip(*results, strict=True)])
    return list(results)
