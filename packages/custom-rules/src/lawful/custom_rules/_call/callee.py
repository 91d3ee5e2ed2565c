"""The function of a call, as a Python function until a trace runs or records it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from lawful.core import ClosedJaxpr, ShapedArray, deduplicated
from lawful.custom_rules._call.rules import Flat
from lawful.ops import with_weakness_of
from lawful.staging import eval_call, trace_to_jaxpr


class Callee:
    """The function of a call.

    Attributes:
      label: the name in messages.
      in_avals: the types of its operands.
      out_avals: the types of its results, once they are known.
      key: identifies the function: functions with equal keys do the same.
      stays: whether a recorded call keeps the Python function instead of a jaxpr. Its ``out_avals`` are then known
        beforehand.
      strict: whether it is an error to close over tracers that are not among the operands.

    >>> Callee("double", lambda x: [x + x], [ShapedArray((), float)], key="double")(2.0)
    [4.0]
    """

    __slots__ = ("_function", "_jaxprs", "in_avals", "key", "label", "out_avals", "stays", "strict")

    def __init__(
        self, label: str, function: Flat, in_avals: Sequence[ShapedArray], key: Hashable,
        *, out_avals: Sequence[ShapedArray] | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        self.label = label
        self.strict = strict
        self.in_avals = in_avals
        self.out_avals = out_avals
        self.key = key
        self.stays = out_avals is not None
        self._function = function
        self._jaxprs: dict[tuple[ShapedArray, ...], ClosedJaxpr] = {}

    def __call__(self, *operands: Any) -> list[Any]:
        results = self._function(*operands)
        if not self.stays:
            return results
        assert self.out_avals is not None
        return [*map(with_weakness_of, results, self.out_avals)]

    def jaxpr(self, avals: Sequence[ShapedArray], name: str) -> ClosedJaxpr:
        """Returns the function as a jaxpr, which may have constants."""
        key = tuple(avals)
        if key not in self._jaxprs:
            self._jaxprs[key] = deduplicated(trace_to_jaxpr(self, key, transformation=self.label, name=name))
        return self._jaxprs[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callee) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.label}>"


def as_function(fun: Callee | None, jaxpr: ClosedJaxpr | None) -> Flat:
    """Returns the function of a call, from its parameters ``fun`` and ``jaxpr``, exactly one of which is given.

    >>> from lawful.core import parse_jaxpr
    >>> as_function(None, parse_jaxpr("{ lambda ; a:f64[]. let in (a, 1.0:f64[]) }"))(2.0)
    [np.float64(2.0), np.float64(1.0)]
    """
    if fun is not None:
        return fun
    assert jaxpr is not None
    closed = jaxpr
    return lambda *operands: eval_call(closed, *operands)
