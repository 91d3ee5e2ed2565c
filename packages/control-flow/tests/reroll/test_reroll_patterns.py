"""`reroll` of generated patterns: operands from the same or earlier iterations, constants, slices."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawful import ops
from lawful.autodiff import grad
from lawful.control_flow import reroll, scan_p
from lawful.core import ClosedJaxpr, check_jaxpr, eval_closed_jaxpr, explain_difference
from lawful.staging import make_jaxpr

STACK = np.linspace(0.1, 0.9, 40 * 2).reshape(40, 2)
CONSTS = np.array([0.3, -0.4]), np.array([0.7, 0.2])


class Operand(NamedTuple):
    """Where an operand comes from."""

    source: str
    number: int


class Pattern(NamedTuple):
    """A loop: the operands of each equation of an iteration, the trip count, and which results are returned."""

    equations: list[tuple[str, list[Operand]]]
    trip_count: int
    returned: list[int]


@st.composite
def patterns(draw: Any) -> Pattern:
    count = draw(st.integers(1, 5))
    equations = []
    for at in range(count):
        operands = st.one_of(
            *[st.builds(Operand, st.just("same iteration"), st.integers(0, at - 1))] * (at > 0),
            st.builds(Operand, st.sampled_from(["before", "two before"]), st.integers(0, count - 1)),
            st.builds(Operand, st.just("constant"), st.integers(0, 1)),
            st.builds(Operand, st.sampled_from(["row", "row backwards", "other array", "literal"]), st.just(0)),
        )
        name = draw(st.sampled_from(["sin", "mul", "add"]))
        equations.append((name, draw(st.lists(operands, min_size=2, max_size=2))))
    trip_count = draw(st.integers(2, 30))
    return Pattern(equations, trip_count, draw(st.lists(st.integers(-1, trip_count - 1), max_size=4)))


def function_of(pattern: Pattern) -> Callable[..., Any]:
    """The loop, unrolled, as a function of a stack, other arrays and two constants."""

    def operand(which: Operand, i: int, values: list[list[Any]], stack: Any, others: Any, consts: Any) -> Any:
        match which.source:
            case "same iteration":
                return values[-1][which.number]
            case "before":
                return values[-2][which.number]
            case "two before":
                return values[-3][which.number]
            case "row":
                return stack[i]
            case "row backwards":
                return stack[35 - i]
            case "other array":
                return others[i]
            case "literal":
                return np.float64(i / 8)
        return consts[which.number]

    def function(stack: Any, others: Any, consts: Any) -> Any:
        count = len(pattern.equations)
        values = [[consts[0]] * count, [consts[1]] * count]
        for i in range(pattern.trip_count):
            values.append([])
            for name, operands in pattern.equations:
                x, y = (operand(which, i, values, stack, others, consts) for which in operands)
                x = x * 0.5 if isinstance(x, float) else x
                values[-1].append(ops.sin(x + y) if name == "sin" else x * y if name == "mul" else x + y)
        return [values[-1], *[values[2 + i][0] for i in pattern.returned]]

    return function


def rolled(closed: ClosedJaxpr, least: int, *args: Any) -> ClosedJaxpr:
    found = reroll(closed, min_trip_count=least)
    check_jaxpr(found)
    assert explain_difference(reroll(found, min_trip_count=least), found) is None
    leaves = [args[0], *args[1], *args[2]]
    with np.errstate(all="ignore"):  # products of products overflow
        pairs = zip(eval_closed_jaxpr(found, *leaves), eval_closed_jaxpr(closed, *leaves), strict=True)
    for x, y in pairs:
        np.testing.assert_array_equal(x, y)
    return found


def size(closed: ClosedJaxpr) -> int:
    return len(closed.eqns) + sum(size(eqn.params["jaxpr"]) for eqn in closed.eqns if eqn.primitive is scan_p)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(patterns(), st.integers(2, 9))
def test_reroll_keeps_values(pattern: Pattern, least: int) -> None:
    others = [row * 1.5 for row in STACK[:30]]
    closed = make_jaxpr(function_of(pattern))(STACK, others, CONSTS)
    found = rolled(closed, least, STACK, others, CONSTS)
    assert size(found) <= len(closed.eqns)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(patterns(), st.integers(3, 9))
def test_reroll_keeps_gradients(pattern: Pattern, least: int) -> None:
    others = [row * 1.5 for row in STACK[:30]]

    def loss(*args: Any) -> Any:
        return sum(
            ops.reduce_sum(x, (0,)) if getattr(x, "ndim", 0) else x for x in _leaves(function_of(pattern)(*args))
        )

    closed = make_jaxpr(grad(loss, (0, 1, 2)))(STACK, others, CONSTS)
    rolled(closed, least, STACK, others, CONSTS)


def _leaves(values: Any) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(patterns())
def test_reroll_size_is_independent_of_trip_count(pattern: Pattern) -> None:
    """Operands of a stack, constants and literals; other arrays are other operands of the program."""
    equations = [
        (name, [Operand("row", 0) if which.source == "other array" else which for which in operands])
        for name, operands in pattern.equations
    ]
    sizes = []
    for trip_count in (26, 34):
        closed = make_jaxpr(function_of(Pattern(equations, trip_count, [])))(STACK, [], CONSTS)
        sizes.append(size(rolled(closed, 4, STACK, [], CONSTS)))
    assert sizes[0] == sizes[1]


# Cost


def chain(count: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        for _ in range(count):
            x = ops.sin(x * 2.0)
        return x

    return function


def wild(count: int) -> Callable[[Any], Any]:
    """A program of equal equations with few repetitions: each uses the result of a random earlier equation."""
    back = np.random.default_rng(0).integers(1, 12, count)

    def function(x: Any) -> Any:
        values = [x]
        for i in back:
            values.append(ops.mul(values[-1], values[-min(int(i), len(values))]))
        return values[-1]

    return function


def python_calls(run: Callable[[], Any]) -> int:
    calls = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("program", [chain, wild, lambda count: grad(chain(count // 2))])
def test_reroll_time_is_linear_in_equations(program: Any) -> None:
    for count in (1000, 2000, 4000):
        closed = make_jaxpr(program(count))(np.float64(0.5))
        assert python_calls(lambda closed=closed: reroll(closed)) < 150 * len(closed.eqns)


def test_reroll_long_program() -> None:
    for function, most in ((chain(20_000), 4), (grad(chain(5_000)), 8)):
        assert len(reroll(make_jaxpr(function)(np.float64(1.0))).eqns) <= most
