"""Replay: a program in indexed form applied to values under a trace.

It gives what applying its primitives one after the other gives. A trace that can do better registers how: evaluation
calls one compiled function, a recording trace adds the equations at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.core._fast.indexed_jaxpr import IndexedJaxpr
from lawful.core._trace.trace import Trace

Replay = Callable[..., list[Any]]
_replays: Final[dict[type[Trace], Replay]] = {}


def replay(trace: Trace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Returns the results of a program for arguments of the types that it is for, under a trace."""
    function: Replay = _replays.get(type(trace), replay_steps)
    return function(trace, program, args)


def register_replay(cls: type[Trace], function: Replay) -> None:
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


#: How traces of a class apply a whole call, an elementwise op with its promotion or a composite:
#: ``function(trace, plan, call, context, args)``.
calls: Final[dict[type[Trace], Callable[..., Any]]] = {}


def register_calls(cls: type[Trace], function: Callable[..., Any]) -> None:
    """Says how traces of a class, subclasses not included, apply a whole call.

    ``plan(trace, context, args)`` returns the primitive or `IndexedJaxpr` that the call applies, and its operands; or
    None and the result of the call. The plan follows from the types of the arguments and from ``call``, a hashable key.
    """
    calls[cls] = function
