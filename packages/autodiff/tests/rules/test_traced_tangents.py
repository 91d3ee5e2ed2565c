"""Cached rules that give a tangent on as it is: the tape has a node for the other tangents alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import linearize, vjp
from lawful.autodiff._fast.traced_rules import LinearizedRule, linearized_program
from lawful.core import get_aval, plain
from lawful.core._fast import IndexedJaxpr
from lawful.ops import composite
from lawful.staging import make_jaxpr

VECTOR = np.array([0.5, -1.5, 2.0])

#: Functions of two vectors that give several results, with the sources of the tangents of these.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], tuple[Any, ...]], tuple[int, ...] | None]] = {
    "an argument": (lambda x, y: (x, y * VECTOR[0]), (-2, 0)),
    "arguments alone": (lambda x, y: (y, x + 1.0), (-1, -2)),
    "a sum": (lambda x, y: (x + y, y), (0, -1)),
    "a result twice": (lambda x, y: (ops.sin(x), ops.sin(x) + 1.0, y), None),
    "an argument used twice": (lambda x, y: (x, ops.sin(x) + ops.cos(x), y), None),
    "two computed": (lambda x, y: (x, ops.sin(x), ops.cos(y)), None),
    "one computed from both": (lambda x, y: (x, ops.sin(x) * ops.exp(y), y), (-2, 0, -1)),
}


def rule_of(function: Callable[[Any, Any], tuple[Any, ...]]) -> LinearizedRule:
    aval = get_aval(VECTOR)
    found = linearized_program(IndexedJaxpr(make_jaxpr(function)(VECTOR, VECTOR)), (aval, aval))
    assert found is not None
    return found[1]


@pytest.mark.fast
@pytest.mark.parametrize("name", FUNCTIONS)
def test_linearized_rule_names_the_sources_of_tangents(name: str) -> None:
    function, sources = FUNCTIONS[name]
    rule = rule_of(function)
    assert not rule.is_plain
    assert rule.sources == sources
    assert (rule.computed is None) == (sources is None or 0 not in sources)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vjp_and_linearize_of_passed_tangents(name: str) -> None:
    several = composite(2)(FUNCTIONS[name][0])

    def function(x: Any, y: Any) -> Any:
        out: Any = 0.0
        for i, z in enumerate(several(x * y, y)):
            out = out + z * z * (i + 1.0)
        return out

    def derivatives() -> Any:
        _, pull = vjp(function, VECTOR, VECTOR + 1.0)
        _, push = linearize(function, VECTOR, VECTOR + 1.0)
        return *pull(np.ones(3)), push(np.ones(3), VECTOR)

    with plain():
        expected = derivatives()
    for _ in range(40):
        np.testing.assert_allclose(derivatives(), expected, rtol=1e-14, atol=1e-14)
