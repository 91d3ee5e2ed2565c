"""Replay under traces that record: the equations of an indexed jaxpr are added at once, without type rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import Atom, JaxprEqn, Primitive, SourceLine, Trace, Var, register_dispatch_module, user_source
from lawful.core._fast import IndexedJaxpr, register_replay
from lawful.staging._recorder import JaxprTrace, JaxprTracer, Recorder

register_dispatch_module(__name__)


class _LooksFurtherError(Exception):
    """The operations of a function do not follow from types."""


class TypesTrace(JaxprTrace):
    """Records a function whose primitives follow from types alone; refuses any other.

    A function may look at a value, or at whether it is known, and may silence NumPy's warnings around a primitive.
    """

    __slots__ = ("_warnings",)

    def __init__(self, parent: Trace, transformation: str) -> None:
        super().__init__(parent, transformation)
        self._warnings = np.geterr()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.require_warnings()
        return self.record(primitive, args, params)

    def require_warnings(self) -> None:
        """Raises an error if NumPy's warning settings have changed since the start."""
        if np.geterr() != self._warnings:
            raise _LooksFurtherError("np.errstate")

    def before_looking(self) -> None:
        raise _LooksFurtherError("the value of an argument")


def add_equations(
    trace: Recorder, program: IndexedJaxpr, args: Sequence[Atom], source: SourceLine | None
) -> list[Atom]:
    """Adds the equations of a program for some atoms; returns the atoms of its results."""
    atoms: list[Atom] = [*args, *program.literals]
    add = trace.eqns.append
    for primitive, params, operands, out_avals in program.steps:
        outvars = [Var(aval) for aval in out_avals]
        add(JaxprEqn(primitive, [atoms[i] for i in operands], outvars, params, source))
        atoms += outvars
    return [atoms[i] for i in program.results]


def _replay(trace: Recorder, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    source = user_source()
    atoms = [
        x.variable if type(x) is JaxprTracer and x._trace is trace else trace.constants.atom(x, trace) for x in args
    ]
    found = add_equations(trace, program, atoms, source)
    count = len(args)
    return [
        args[i] if i < count else JaxprTracer(trace, atom, source) if type(atom) is Var else atom.val
        for i, atom in zip(program.results, found, strict=True)
    ]


def _replay_types(trace: TypesTrace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    trace.require_warnings()
    return _replay(trace, program, args)


register_replay(JaxprTrace, _replay)
register_replay(TypesTrace, _replay_types)
