"""Helpers of the tests of batching: the loop that `vmap` stands for, and the equations of programs."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import tree
from lawful.core import ClosedJaxpr, current, eval_trace, get_aval, jaxprs_in_params


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
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol)

    return same


@pytest.fixture
def loop() -> Callable[..., Callable[..., Any]]:
    """Gives the loop over the mapped dimensions that `vmap` stands for; axes are not prefixes."""

    def looped(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
            sizes = {np.shape(x)[axis] for x, axis in zip(args, axes, strict=True) if axis is not None}
            (size,) = sizes
            results = [
                function(*(x if axis is None else np.take(x, i, axis) for x, axis in zip(args, axes, strict=True)))
                for i in range(size)
            ]
            return tree.map(lambda *xs: np.stack(xs, out_axes), *results)

        return call

    return looped


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
