"""`while_loop` equals the Python loop, for any value."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.control_flow import while_loop, while_p
from lawful.core import check_jaxpr, get_aval, parse_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")


def loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], val: Any) -> Any:
    """The Python loop."""
    while cond(val):
        val = body(val)
    return tree.map(lambda x: np.asarray(x)[()], val)


LOOPS: dict[str, tuple[Any, Any, Any]] = {
    "a number": (lambda x: x < 100.0, lambda x: x * 3.0, np.float64(2.0)),
    "an integer": (lambda n: n > 0, lambda n: n - 3, np.int32(10)),
    "an array": (lambda x: ops.reduce_sum(x, (0,)) < 50.0, lambda x: x * 2.0, np.array([1.0, 2.0])),
    "a tree": (
        lambda s: s["n"] < 5, lambda s: {"n": s["n"] + 1, "x": [s["x"][1], s["x"][0] * 0.5]},
        {"n": np.int64(0), "x": [np.ones(2), np.zeros(2)]},
    ),
    "no iteration": (lambda x: x > 0.0, lambda x: x * 2.0, np.float64(-1.0)),
    "a boolean": (lambda s: s[0], lambda s: (s[1], np.bool_(False)), (np.bool_(True), np.bool_(True))),
    "complex": (lambda z: ops.real(z) < 5.0, lambda z: z * (1 + 0.5j) + 1.0, np.complex128(1.0)),
    "float32": (lambda x: x < 9, lambda x: x * x, np.float32(1.5)),
    "handed on": (lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1], s[2] + s[1]), (np.int64(0), np.ones(2), np.zeros(2))),
    "never": (lambda s: False, lambda s: s, (np.float64(1.0),)),
    "nothing": (lambda s: False, lambda s: s, ()),
}  # fmt: skip

every_loop = pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)


@every_loop
def test_while_loop_equals_the_python_loop(case: Any, require_same: Callable[..., None]) -> None:
    cond, body, init = case
    expected = loop(cond, body, init)
    for options in ({}, {"checkpoints": 3}, {"max_iters": 2}):
        looped = partial(while_loop, cond, body, **options)
        require_same(looped(init), expected)
        require_same(jit(looped)(init), expected)


@every_loop
def test_while_loop_jaxpr_is_well_typed_and_parses(case: Any) -> None:
    cond, body, init = case
    closed = make_jaxpr(partial(while_loop, cond, body, max_iters=7))(init)
    check_jaxpr(closed)
    assert str(parse_jaxpr(str(closed))) == str(closed)
    assert sum(eqn.primitive is while_p for eqn in closed.eqns) == 1


def test_while_loop_python_number_gets_type_of_body() -> None:
    assert str(get_aval(while_loop(lambda x: x < 4, lambda x: x * 1.5, 1))) == "f64[]"
    assert str(get_aval(while_loop(lambda x: x < 4, lambda x: x + np.float32(1), 1))) == "f32[]"
    assert str(get_aval(while_loop(lambda x: x < 4, lambda x: x + 1, 1))) == "i64[]"


def test_while_loop_functions_close_over_values(require_same: Callable[..., None]) -> None:
    def function(limit: Any, factor: Any, x: Any) -> Any:
        return while_loop(lambda s: ops.reduce_sum(s, (0,)) < limit, lambda s: s * factor, x)

    args = (np.float64(40.0), np.array([2.0, 3.0]), np.ones(2))
    for transformed in (function, jit(function)):
        require_same(transformed(*args), np.array([16.0, 81.0]))


def test_while_loop_traces_functions_once() -> None:
    calls = []

    def cond(n: Any) -> Any:
        calls.append("cond")
        return n < 50

    def body(n: Any) -> Any:
        calls.append("body")
        return n + 1

    assert while_loop(cond, body, np.int64(0)) == 50
    assert sorted(calls) == ["body", "cond"]


def test_while_loop_nested(require_same: Callable[..., None]) -> None:
    """Collatz: how many steps each number takes to reach 1, and the largest of them."""

    def steps(n: Any) -> Any:
        def step(s: Any) -> Any:
            m, count = s
            return ops.select(ops.rem(m, 2) == 0, m // 2, 3 * m + 1), count + 1

        return while_loop(lambda s: s[0] != 1, step, (n, np.int64(0)))[1]

    def largest(upto: Any) -> Any:
        def body(s: Any) -> Any:
            n, most = s
            return n + 1, ops.max(most, steps(n))

        return while_loop(lambda s: s[0] <= upto, body, (np.int64(1), np.int64(0)))[1]

    assert largest(np.int64(30)) == 111
    assert jit(largest)(np.int64(30)) == 111


def test_while_loop_results_share_no_memory_with_arguments() -> None:
    init = np.zeros(3)
    for body in (lambda s: (s[0] + 1, s[1]), lambda s: (s[0] + 1, s[1] + 1.0)):
        for trip_count in (0, 1):
            _, out = while_loop(lambda s, trip_count=trip_count: s[0] < trip_count, body, (0, init))
            out[...] = 7.0
    assert not init.any()
