"""`reroll` of sub-jaxprs and nested loops, and programs that it does not roll."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.control_flow import cond, reroll, scan
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Primitive,
    eval_closed_jaxpr,
)
from lawful.staging import jit, make_jaxpr

TRIP_COUNT = 20
random = np.random.default_rng(0)
H = random.normal(size=3)
XS = random.normal(size=(TRIP_COUNT, 3))


def test_reroll_iterations_with_calls_loops_and_branches(scan_lengths: Any, rolled: Any) -> None:
    inner = jit(lambda x: ops.sin(x) * 2.0, backend="numpy")

    def calling(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = inner(x)
        return x

    def looping(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x, _ = scan(lambda c, y: (ops.sin(c * y), None), x, XS[:, 0])
        return x

    def choosing(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = cond(x > 0, ops.sin, ops.cos, x)
        return x

    x = np.float64(0.5)
    for function in (calling, looping, choosing):
        assert scan_lengths(rolled(function, x)) == [TRIP_COUNT]
        assert scan_lengths(rolled(grad(function), x)) == [TRIP_COUNT, TRIP_COUNT]


def test_reroll_sub_jaxprs_equal_up_to_names(scan_lengths: Any, rolled: Any) -> None:
    def function(factors: Any, x: Any) -> Any:
        for factor in factors:
            x = scan(lambda c, y, factor=factor: (ops.sin(c * factor), None), x, XS)[0]
        return x

    assert scan_lengths(rolled(partial(function, [2.0] * TRIP_COUNT), np.float64(0.5))) == [TRIP_COUNT]
    closed = make_jaxpr(partial(function, np.arange(1.0, 6.0)))(np.float64(0.5))
    assert reroll(closed, min_trip_count=2) is closed


def test_reroll_nested_loops(scans_in: Any, scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        for _ in range(10):
            x = ops.exp(-x)
            for _ in range(12):
                x = ops.sin(x * 2.0)
        return x

    for program, count in ((rolled(function, np.float64(0.3)), 1), (rolled(grad(function), np.float64(0.3)), 2)):
        assert scan_lengths(program)[0] >= 9
        assert scan_lengths(scans_in(program)[0].params["jaxpr"])[0] >= 11
        assert len(scans_in(program)) == count


def test_reroll_loops_in_sub_jaxprs(chain: Any, scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        return cond(x > 0, jit(chain, backend="numpy"), lambda x: x * np.arange(4)[2], x)

    closed = rolled(function, np.float64(0.3))
    (call,) = closed.eqns[-1].params["branches"][1].eqns
    assert scan_lengths(call.params["jaxpr"]) == [TRIP_COUNT]


def test_reroll_hoists_constants_of_sub_jaxprs(scan_lengths: Any, rolled: Any) -> None:
    def counting(x: Any) -> Any:
        for i in range(TRIP_COUNT):
            x = ops.sin(x + i)
        return x

    def function(x: Any) -> Any:
        return scan(lambda c, _: (counting(c), None), x, length=2)[0], jit(counting, backend="numpy")(x)

    closed = rolled(function, np.float64(0.3))
    assert [scan_lengths(eqn.params["jaxpr"]) for eqn in closed.eqns] == [[TRIP_COUNT]] * 2
    np.testing.assert_allclose(
        jit(lambda x: eval_closed_jaxpr(closed, x), backend="numpy")(np.float64(0.3)), function(np.float64(0.3))
    )


# Equations that are not rolled


def test_reroll_does_not_roll_effects() -> None:
    beep_p = Primitive("beep_of_reroll", multiple_results=True, effectful=True)
    beep_p.def_impl(lambda x: [])
    beep_p.def_abstract_eval(lambda x: [])

    def function(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = ops.sin(x)
            beep_p.bind(x)
        return x

    closed = make_jaxpr(function)(np.float64(1.0))
    assert reroll(closed) is closed

    def calling(x: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = jit(lambda x: (beep_p.bind(x), ops.sin(x))[1], backend="numpy")(x)
        return x

    closed = make_jaxpr(calling)(np.float64(1.0))
    assert reroll(closed) is closed


def test_reroll_returns_the_same_object_without_loops() -> None:
    closed = make_jaxpr(lambda x, y: ops.sin(x) * y + ops.cos(y))(H, H)
    assert reroll(closed) is closed
    empty = make_jaxpr(lambda x: x)(H)
    assert reroll(empty, min_trip_count=2) is empty


def test_reroll_errors(chain: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"reroll: expected a ClosedJaxpr, got .* of type function; make one"):
        reroll(chain)  # type: ignore[arg-type]
    closed = make_jaxpr(chain)(np.float64(1.0))
    with pytest.raises(ArgumentValueError, match="reroll: expected min_trip_count of at least 2, got 1"):
        reroll(closed, min_trip_count=1)
    with pytest.raises(ArgumentTypeError, match="reroll: expected an integer as min_trip_count"):
        reroll(closed, min_trip_count=2.5)  # type: ignore[arg-type]
