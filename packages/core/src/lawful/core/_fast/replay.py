"""Replay: a program in indexed form applied to values under a trace.

The result is that of applying its primitives one after the other. A class of traces may register a faster function:
evaluation calls one compiled function, a recording trace adds all equations at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.core._fast.indexed_jaxpr import IndexedJaxpr
from lawful.core._trace.trace import Trace
from lawful.tree.base import register_dispatch_module

register_dispatch_module(__name__)

Replay = Callable[..., list[Any]]
#: By class of trace, not of its subclasses: ``function(trace, program, args)``, which is faster than `replay_steps`.
replays: Final[dict[type[Trace], Replay]] = {}


def replay(trace: Trace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Returns the results of a program for arguments of the types that it is for, under a trace."""
    function: Replay = replays.get(type(trace), replay_steps)
    return function(trace, program, args)


def register_replay(cls: type[Trace], function: Replay) -> None:
    """Registers ``function(trace, program, args)``, which replays under traces of a class, not of its subclasses."""
    replays[cls] = function


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


#: By class of trace: ``function(trace, plan, call, context, args)``, which applies a whole call, of an elementwise op
#: with its promotion or of a composite.
calls: Final[dict[type[Trace], Callable[..., Any]]] = {}


def register_calls(cls: type[Trace], function: Callable[..., Any]) -> None:
    """Registers the function that applies a whole call under traces of a class, without subclasses.

    ``plan(trace, context, args)`` returns the primitive or `IndexedJaxpr` that the call applies, and its operands; or
    None and the result of the call. The plan follows from the types of the arguments and from ``call``, a hashable key.
    """
    calls[cls] = function
