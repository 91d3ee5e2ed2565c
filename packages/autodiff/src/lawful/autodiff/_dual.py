"""What forward mode and linearization share: values that are primals with tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ShapedArray, SourceLine, Trace, Tracer, Zero, get_aval


class DualTracer(Tracer):
    """A primal value together with its tangent."""

    __slots__ = ("aval", "primal", "source", "tangent", "tangent_aval")

    def __init__(
        self,
        trace: Trace,
        primal: Any,
        tangent: Any,
        source: SourceLine | None,
        aval: ShapedArray,
        tangent_aval: ShapedArray,
    ) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.source = source
        self.aval = aval
        self.tangent_aval = tangent_aval

    def concrete(self) -> Any:
        primal = self.primal
        return primal.concrete() if isinstance(primal, Tracer) else primal


#: For each argument the type of its tangent, which may be strong where the primal is weak; None where it is zero.
TangentAvals = tuple[ShapedArray | None, ...]


def parts(trace: Trace, args: Sequence[Any]) -> tuple[list[Any], tuple[ShapedArray, ...], TangentAvals, list[Any]]:
    """Returns the primals of arguments, their types, the types of the tangents that they have in a trace, and these."""
    if len(args) == 1:
        (x,) = args
        if isinstance(x, DualTracer) and x._trace is trace:
            return [x.primal], (x.aval,), (x.tangent_aval,), [x.tangent]
        return [x], (get_aval(x),), (None,), []
    primals = []
    avals = []
    tangent_avals: list[ShapedArray | None] = []
    given = []
    for x in args:
        if isinstance(x, DualTracer) and x._trace is trace:
            primals.append(x.primal)
            avals.append(x.aval)
            tangent_avals.append(x.tangent_aval)
            given.append(x.tangent)
        else:
            primals.append(x)
            avals.append(get_aval(x))
            tangent_avals.append(None)
    return primals, tuple(avals), tuple(tangent_avals), given


def zero_tangent(x: Any) -> Zero:
    """Returns the symbolic zero tangent of a primal value."""
    return Zero(get_aval(x).to_tangent_aval())
