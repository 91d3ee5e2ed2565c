"""The derivative of nested conds costs no more than a polynomial in the depth of nesting."""

import numpy as np
import pytest

from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.ops import sin
from lawful.staging import clear_caches, make_jaxpr, trace_to_jaxpr


def _nested(depth):
    if depth == 0:
        return sin
    inner = _nested(depth - 1)
    return lambda x: cond(x > 0, lambda y: inner(y) * 2, lambda y: y, x)


def test_an_outer_cond_asks_an_inner_one_for_its_derivative_once(monkeypatch):
    import lawful.control_flow._branches as module

    def count(depth):
        calls = 0

        def counted(*args, **kwargs):
            nonlocal calls
            calls += 1
            return trace_to_jaxpr(*args, **kwargs)

        monkeypatch.setattr(module, "trace_to_jaxpr", counted)
        clear_caches()  # the inner ones of a deeper program are those of this one
        make_jaxpr(grad(_nested(depth)))(1.0)
        return calls

    # What is kept for the backward pass grows with the depth, so that all of it grows with the square.
    assert count(10) < 5 * count(5)


@pytest.mark.parametrize("depth", [1, 4])
def test_derivatives_of_nested_conds(depth):
    f = _nested(depth)
    expected = np.cos(0.7) * 2.0**depth
    np.testing.assert_allclose(grad(f)(0.7), expected)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], expected)
    np.testing.assert_allclose(vmap(grad(f))(np.array([0.7, -0.7])), [expected, 1.0])
    np.testing.assert_allclose(grad(grad(f))(0.7), -np.sin(0.7) * 2.0**depth)
