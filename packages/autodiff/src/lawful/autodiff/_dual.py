"""What forward mode and linearization share: values that are primals with tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ShapedArray, SourceLine, Trace, Tracer, Zero, get_aval


class DualTracer(Tracer):
    """A primal value together with its tangent."""

    __slots__ = ("aval", "primal", "source", "tangent")

    def __init__(self, trace: Trace, primal: Any, tangent: Any, source: SourceLine | None, aval: ShapedArray) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.source = source
        self.aval = aval

    def concrete(self) -> Any:
        primal = self.primal
        return primal.concrete() if isinstance(primal, Tracer) else primal


def parts(trace: Trace, args: Sequence[Any]) -> tuple[list[Any], list[ShapedArray], list[bool], list[Any]]:
    """Returns the primals of arguments, their types, which of them have a tangent in a trace, and these tangents."""
    primals = []
    avals = []
    nonzeros = []
    given = []
    for x in args:
        if isinstance(x, DualTracer) and x._trace is trace:
            primals.append(x.primal)
            avals.append(x.aval)
            nonzeros.append(True)
            given.append(x.tangent)
        else:
            primals.append(x)
            avals.append(get_aval(x))
            nonzeros.append(False)
    return primals, avals, nonzeros, given


def zero_tangent(x: Any) -> Zero:
    """Returns the symbolic zero tangent of a primal value."""
    return Zero(get_aval(x).to_tangent_aval())
