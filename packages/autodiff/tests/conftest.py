"""Helpers of the tests of autodiff: the types of values, the equations of programs, and finite differences."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import tree
from lawful.core import ClosedJaxpr, current, eval_trace, float0, get_aval, jaxprs_in_params


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"


def same(got: Any, expected: Any, rtol: float = 0.0) -> None:
    assert tree.structure(got) == tree.structure(expected)
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        assert get_aval(x) == get_aval(y)
        if get_aval(y).dtype != float0:
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol)


@pytest.fixture
def require_same() -> Callable[..., None]:
    """Checks trees for the same structure, and leaves of the same type (weakness included) and value."""
    return same


@pytest.fixture
def primitives_of() -> Callable[[ClosedJaxpr], Counter[str]]:
    """Counts the equations of a jaxpr, and of those inside it, by primitive."""

    def count(closed: ClosedJaxpr) -> Counter[str]:
        found: Counter[str] = Counter()
        pending = [closed.jaxpr]
        while pending:
            for eqn in pending.pop().eqns:
                found[eqn.primitive.name] += 1
                pending.extend(jaxprs_in_params(eqn.params))
        return found

    return count


@pytest.fixture
def difference_quotient() -> Callable[..., Any]:
    """Approximates the derivative of a function of arrays along tangents, by a central difference."""

    def quotient(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        step = 1e-6
        above, below = (
            function(*(np.asarray(x) + sign * step * np.asarray(t) for x, t in zip(primals, tangents, strict=True)))
            for sign in (1, -1)
        )
        return tree.map(lambda a, b: (np.asarray(a) - np.asarray(b)) / (2 * step), above, below)

    return quotient
