"""Shared by the tests of control flow: types of values, and equations of programs."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad
from lawful.control_flow import reroll, scan_p
from lawful.core import (
    ClosedJaxpr,
    JaxprEqn,
    check_jaxpr,
    current,
    eval_closed_jaxpr,
    eval_trace,
    explain_difference,
    float0,
    get_aval,
    jaxprs_in_params,
)
from lawful.staging import make_jaxpr


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"


@pytest.fixture
def require_same() -> Callable[..., None]:
    """Checks trees for the same structure, and leaves of the same type (weakness included) and value."""

    def same(got: Any, expected: Any, rtol: float = 0.0) -> None:
        assert tree.structure(got) == tree.structure(expected)
        for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
            assert get_aval(x) == get_aval(y)
            if get_aval(y).dtype != float0:
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol)

    return same


@pytest.fixture
def difference_quotient() -> Callable[..., Any]:
    """Approximates the derivative of a function of arrays along tangents, by a central difference."""

    def quotient(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        step = 1e-5
        above, below = (
            function(*(np.asarray(x) + sign * step * np.asarray(t) for x, t in zip(primals, tangents, strict=True)))
            for sign in (1, -1)
        )
        return tree.map(lambda a, b: (np.asarray(a) - np.asarray(b)) / (2 * step), above, below)

    return quotient


@pytest.fixture
def primitives_of() -> Callable[[ClosedJaxpr], Counter[str]]:
    """Counts the equations of a jaxpr and its sub-jaxprs by primitive; for a batched cond, those that are evaluated."""

    def count(closed: ClosedJaxpr) -> Counter[str]:
        found: Counter[str] = Counter()
        pending = [closed.jaxpr]
        while pending:
            for eqn in pending.pop().eqns:
                found[eqn.primitive.name] += 1
                evaluated = {name: value for name, value in eqn.params.items() if name != "guarded"}
                pending.extend(jaxprs_in_params(evaluated))
        return found

    return count


@pytest.fixture
def rolled() -> Callable[..., ClosedJaxpr]:
    """Returns the rerolled program of a function; checks its types and values, and that rerolling is idempotent."""

    def rolled_program(function: Callable[..., Any], *args: Any, min_trip_count: int = 8) -> ClosedJaxpr:
        closed = make_jaxpr(function)(*args)
        found = reroll(closed, min_trip_count=min_trip_count)
        check_jaxpr(found)
        assert found.in_avals == closed.in_avals
        assert found.out_avals == closed.out_avals
        assert explain_difference(reroll(found, min_trip_count=min_trip_count), found) is None
        leaves = tree.leaves(args)
        for x, y in zip(eval_closed_jaxpr(found, *leaves), eval_closed_jaxpr(closed, *leaves), strict=True):
            assert get_aval(x) == get_aval(y)
            np.testing.assert_array_equal(x, y)
        return found

    return rolled_program


@pytest.fixture
def scans_in() -> Callable[[ClosedJaxpr], list[JaxprEqn]]:
    """Returns the loops of a program."""
    return lambda closed: [eqn for eqn in closed.eqns if eqn.primitive is scan_p]


@pytest.fixture
def scan_lengths(scans_in: Callable[[ClosedJaxpr], list[JaxprEqn]]) -> Callable[[ClosedJaxpr], list[int]]:
    """Returns the trip counts of the scans of a program."""
    return lambda closed: [eqn.params["length"] for eqn in scans_in(closed)]


@pytest.fixture
def primitive_names() -> Callable[[ClosedJaxpr], list[str]]:
    """Returns the names of the primitives of a program's equations."""
    return lambda closed: [eqn.primitive.name for eqn in closed.eqns]


@pytest.fixture
def chain() -> Callable[..., Any]:
    """A Python loop with two equations per iteration."""

    def chain_of_sines(x: Any, count: int = 20) -> Any:
        for _ in range(count):
            x = ops.sin(x * 2.0)
        return x

    return chain_of_sines


@pytest.fixture
def gradient() -> Callable[..., Any]:
    """Returns the gradient of the sum of all results of a function, by its first arguments."""

    def gradient_of(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
        def total(*args: Any) -> Any:
            return sum(ops.reduce_sum(x, tuple(range(x.ndim))) for x in tree.leaves(function(*args)))

        return grad(total, tuple(range(count)))

    return gradient_of
