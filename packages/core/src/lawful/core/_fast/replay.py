"""Replay: a program in indexed form applied to values under a trace.

It gives what applying its primitives one after the other gives. A trace that can do better registers how: evaluation
calls one compiled function, a recording trace adds the equations at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from lawful.core._fast.indexed_jaxpr import IndexedJaxpr
from lawful.core._trace import Trace

_replays: Final[dict[type[Trace], Callable[..., list[Any]]]] = {}


def replay(trace: Trace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Returns the results of a program for arguments of the types that it is for, under a trace."""
    return _replays.get(type(trace), replay_steps)(trace, program, args)


def register_replay(cls: type[Trace], function: Callable[..., list[Any]]) -> None:
    """Says how traces of a class, subclasses not included, replay a program: ``function(trace, program, args)``."""
    _replays[cls] = function


def replay_steps(trace: Trace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Applies the primitives of a program one after the other."""
    values = [*args, *program.scalars]
    for primitive, params, operands, _ in program.steps:
        out = trace.process_primitive(primitive, [values[i] for i in operands], params)
        if primitive.multiple_results:
            values += out
        else:
            values.append(out)
    return [values[i] for i in program.results]


class Call(Protocol):
    """A function of arrays that follows from their types: an elementwise op with its promotion, or a composite."""

    def plan(self, trace: Trace, args: Sequence[Any]) -> tuple[IndexedJaxpr, Sequence[Any]]:
        """Returns what the call applies to which operands; the operands are arguments, converted where needed."""


#: How traces of a class apply a whole call: ``function(trace, call, args)``.
calls: Final[dict[type[Trace], Callable[..., Any]]] = {}


def register_calls(cls: type[Trace], function: Callable[..., Any]) -> None:
    """Says how traces of a class, subclasses not included, apply a whole `Call`."""
    calls[cls] = function
