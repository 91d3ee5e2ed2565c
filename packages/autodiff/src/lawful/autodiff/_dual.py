"""Values with tangents, for forward mode and linearization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import Primitive, ShapedArray, SourceLine, Trace, Tracer, get_aval, pair_of_rule


class DualTracer(Tracer):
    """A primal value with its tangent.

    Attributes:
      primal: a value of the trace's parent.
      tangent: its tangent, of the trace's own kind.
      source: the user's line.
      aval: the type of the primal.
      tangent_aval: the type of the tangent, which may be strong where the primal is weak.
    """

    __slots__ = ("aval", "primal", "source", "tangent", "tangent_aval")

    primal: Any
    tangent: Any
    tangent_aval: ShapedArray

    def __init__(self, trace: Trace, primal: Any, tangent: Any, source: SourceLine | None) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.source = source
        self.aval = get_aval(primal)
        self.tangent_aval = get_aval(tangent)

    def parent_value(self) -> Any:
        return self.primal


def run_jvp_rule(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Returns the lists of outputs and of their tangents that the jvp rule of a primitive gives."""
    result = primitive.rule("jvp")(primals, tangents, **params)
    out, tangent = pair_of_rule(primitive, "jvp", "(out, tangent)", result)
    return (out, tangent) if primitive.multiple_results else ([out], [tangent])
