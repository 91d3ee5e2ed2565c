"""The argument ``passes`` of ``jit``: functions that rewrite the traced program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from lawful import core
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    JaxprTypeError,
    ShapedArray,
    exact_key,
    shorten,
)
from lawful.staging._signature import function_name

#: A rewriting of a program that keeps the types of its inputs and outputs.
Pass = Callable[[ClosedJaxpr], ClosedJaxpr]


def passes_of(passes: Any) -> tuple[Pass, ...]:
    """Returns the argument ``passes`` of ``jit`` as a tuple.

    Raises:
      ArgumentTypeError: it is not a sequence of functions.
    """
    if callable(passes) or not isinstance(passes, Sequence):
        one = f"({function_name(passes)},)" if callable(passes) else "(reroll,)"
        raise ArgumentTypeError(
            f"jit: expected a sequence of functions as passes, got {shorten(passes)} of type "
            f"{type(passes).__name__}; write passes={one}"
        )
    for each in passes:
        if not callable(each):
            raise ArgumentTypeError(
                f"jit: expected functions of a ClosedJaxpr in passes, got {shorten(each)} of type "
                f"{type(each).__name__}; give functions such as lawful.staging.cse_jaxpr"
            )
    return tuple(passes)


def passes_key(passes: Sequence[Pass]) -> Hashable:
    """Returns a key of some passes: partials of the same function and arguments are equal.

    Raises:
      ArgumentValueError: a pass, or an argument of a partial, is not hashable.
    """
    keys = []
    for each in passes:
        key: Hashable = each
        if type(each) is functools.partial:
            key = (each.func, exact_key(each.args), exact_key(tuple(each.keywords.items())))
        try:
            hash(key)
        except TypeError as error:
            raise ArgumentValueError(
                f"jit: expected hashable passes, with hashable arguments, got {shorten(each)}; make lists tuples, or "
                "wrap it in a function"
            ) from error
        keys.append(key)
    return tuple(keys)


def passed(name: str, closed: ClosedJaxpr, passes: Sequence[Pass]) -> ClosedJaxpr:
    """Returns a program rewritten by one pass after the other.

    Args:
      name: the function that was traced, for messages.
      closed: the program.
      passes: the passes.

    Raises:
      ArgumentTypeError: what a pass returns is no program, is not well typed, or has other inputs or outputs.
    """
    for each in passes:
        found = each(closed)
        if found is not closed:
            _require_same(f"jit of {name}: expected the pass {function_name(each)} to return", closed, found)
            closed = found
    return closed


def _require_same(expected: str, closed: ClosedJaxpr, found: Any) -> None:
    if not isinstance(found, ClosedJaxpr):
        raise ArgumentTypeError(
            f"{expected} a ClosedJaxpr, got {shorten(found)} of type {type(found).__name__}; return the program that "
            "it is given, or one made of it"
        )
    for what, before, after in (
        ("takes", closed.in_avals, found.in_avals),
        ("gives", closed.out_avals, found.out_avals),
    ):
        if before != after:
            raise ArgumentTypeError(
                f"{expected} a program that {what} {_types(before)}, got one that {what} {_types(after)}; keep the "
                "number, order and types of inputs and outputs"
            )
    try:
        core.check_jaxpr(found)
    except JaxprTypeError as error:
        raise ArgumentTypeError(
            f"{expected} a well-typed program, got one that is not: {error.message}; call lawful.core.check_jaxpr on "
            "what the pass makes"
        ) from error


def _types(avals: Sequence[ShapedArray]) -> str:
    return " ".join(map(str, avals)) or "nothing"
