"""A trace that a user defines gets one primitive at a time, in both modes, as page 12 of the book says."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.control_flow import fori_loop
from lawful.core import Primitive, ShapedArray, Trace, current, new_trace
from lawful.staging import JaxprTrace, trace_to_jaxpr

FLOAT = ShapedArray((), np.dtype(np.float64))


class CountingTrace(JaxprTrace):
    """Records, and counts the primitives that it gets."""

    __slots__ = ("count",)

    def __init__(self, parent: Trace, transformation: str) -> None:
        super().__init__(parent, transformation)
        self.count = 0

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.count += 1
        return super().process_primitive(primitive, args, params)


class LoggingTrace(Trace):
    """Passes each primitive on to its parent, and keeps the names."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__(current.trace, "log")
        self.evaluates_constants = False  # functions of arrays do not call NumPy past it
        self.names: list[str] = []

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self.names.append(primitive.name)
        return self.parent.process_primitive(primitive, args, params)


def program(x: Any) -> Any:
    return ops.mul(ops.sin(x) * 2.0 + x, ops.tanh(x))


@pytest.mark.parametrize(
    "function",
    [
        program,
        grad(program),
        grad(grad(program)),
        lambda x: jvp(program, (x,), (x,))[1],
        lambda x: fori_loop(0, 3, lambda i, y: program(y), x),
    ],
)
def test_subclass_of_the_recording_trace_gets_each_primitive(function: Any) -> None:
    for _ in range(4):  # the accelerators act from the second or third call on
        traces: list[CountingTrace] = []

        def traced(parent: Trace, transformation: str, traces: list[CountingTrace] = traces) -> CountingTrace:
            traces.append(CountingTrace(parent, transformation))
            return traces[-1]

        closed = trace_to_jaxpr(lambda x: [function(x)], [FLOAT], trace_class=traced)
        assert traces[0].count == len(closed.eqns) > 0


@pytest.mark.parametrize("function", [program, lambda x: jvp(program, (x,), (x,))[1]])
def test_trace_of_ones_own_gets_each_primitive(function: Any) -> None:
    seen = []
    for _ in range(4):
        trace = LoggingTrace()
        with new_trace(trace):
            function(np.float64(0.5))
        seen.append(trace.names)
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert {"sin", "tanh", "mul"} <= {*seen[0]}
