"""The trace of Taylor mode: its tracers hold series, and primitives are applied to all coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from lawful.core import Primitive, Trace, Tracer, current, get_aval, new_trace, register_array_type, set_current
from lawful.taylor._general_rule import general_rule, linear_rule
from lawful.taylor._series import Series, constant, moves


class JetTracer(Tracer):
    """A value that varies along a curve, as a truncated series."""

    __slots__ = ("aval", "series", "source")

    def __init__(self, trace: Trace, series: Series, source: Any) -> None:
        self._trace = trace
        self.series = series
        self.source = source
        self.aval = get_aval(series[0])

    def parent_value(self) -> Any:
        return self.series[0]


register_array_type(JetTracer, aval=attrgetter("aval"))


class JetTrace(Trace):
    """Applies the rule in the slot ``"jet"`` of each primitive, under the parent.

    A primitive without one is applied to each coefficient if its declaration says that it is linear. Otherwise it is
    differentiated by nested ``jvp``.
    """

    __slots__ = ("order",)

    def __init__(self, parent: Trace, order: int) -> None:
        super().__init__(parent, "jet")
        self.order = order

    def new_tracer(self, series: Series) -> Any:
        """Returns a tracer of a series; the value itself if it is constant."""
        return JetTracer(self, series, self.source) if moves(series) else series[0]

    def series_of(self, x: Any) -> Series:
        """Returns the series of an operand, which may be a constant."""
        if type(x) is JetTracer and x._trace is self:
            return x.series
        return constant(x, self.order)

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        parent = self.parent
        assert parent is not None
        if not any([type(x) is JetTracer and x._trace is self for x in args]):
            return parent.process_primitive(primitive, args, params)
        rule = primitive.rule_or_none("jet") or linear_rule(primitive) or general_rule(primitive)
        with set_current(parent):
            out = rule([self.series_of(x) for x in args], **params)
        if primitive.multiple_results:
            return [self.new_tracer(series) for series in out]
        return self.new_tracer(out)


def jet_flat(function: Callable[..., Sequence[Any]], series: Sequence[Series], order: int) -> list[Series]:
    """Applies a flat function to series; returns the series of its outputs."""
    trace = JetTrace(current.trace, order)
    with new_trace(trace):
        outs = function(*map(trace.new_tracer, series))
    return [trace.series_of(x) for x in outs]
