"""The cost of derivatives of nested conds is linear in the depth of nesting."""

import numpy as np
import pytest

from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, cond_p
from lawful.core import jaxprs_in_params
from lawful.ops import sin
from lawful.staging import clear_caches, jit, make_jaxpr, trace_to_jaxpr


def _nested(depth):
    if depth == 0:
        return sin
    inner = _nested(depth - 1)
    return lambda x: cond(x > 0, lambda y: inner(y) * 2, lambda y: y, x)


def _chain(depth):
    """Nested conds, each with equations before and after the inner one."""
    if depth == 0:
        return sin
    inner = _chain(depth - 1)
    return lambda x: cond(x > 0, lambda y: inner(sin(y) * 2.0), lambda y: y * y, x)


def _size(jaxpr):
    """Returns the number of operands and results of all equations, those of sub-jaxprs included."""
    inner = sum(_size(nested) for eqn in jaxpr.eqns for nested in jaxprs_in_params(eqn.params))
    return inner + sum(len(eqn.invars) + len(eqn.outvars) for eqn in jaxpr.eqns)


@pytest.mark.parametrize(
    "transformation", [grad, lambda f: lambda x: linearize(f, x)[1](1.0)], ids=["grad", "linearize"]
)
def test_nested_cond_derivative_size(transformation):
    sizes = [_size(make_jaxpr(transformation(_chain(depth)))(0.7).jaxpr) for depth in (10, 20, 40)]
    # A residual of the innermost cond passes through all: without packs their number is the square of the depth.
    assert sizes[1] < 2.5 * sizes[0]
    assert sizes[2] < 2.5 * sizes[1]


def test_nested_cond_derivative_traces(monkeypatch):
    import lawful.control_flow._cond.residuals as module

    def count(depth):
        calls = 0

        def counted(*args, **kwargs):
            nonlocal calls
            calls += 1
            return trace_to_jaxpr(*args, **kwargs)

        monkeypatch.setattr(module, "trace_to_jaxpr", counted)
        clear_caches()  # otherwise a deeper program reuses the inner conds
        make_jaxpr(grad(_nested(depth)))(1.0)
        return calls

    assert 0 < count(20) < 2.5 * count(10)


def test_cond_residual_that_is_an_operand():
    """It is an operand of the linear cond, and not a result of the first one."""
    jaxpr = make_jaxpr(lambda p, x, y: linearize(lambda y: cond(p, lambda y: x * y, lambda y: y, y), y)[1](y))(
        True, 2.0, 3.0
    ).jaxpr
    first, linear = [eqn for eqn in jaxpr.eqns if eqn.primitive is cond_p]
    assert len(first.outvars) == 1
    assert jaxpr.invars[1] in linear.invars


@pytest.mark.parametrize("depth", [12, 20])
def test_cond_derivatives_with_packed_residuals(depth):
    """Deep enough for nested packs, with residuals of one type in both branches."""
    x, f = 0.7, _chain(depth)
    y, expected = x, 1.0
    for _ in range(depth):
        y, expected = np.sin(y) * 2.0, expected * 2.0 * np.cos(y)
        if y <= 0:
            break
    else:
        expected *= np.cos(y)
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(grad(f), backend="numpy")(x), expected, rtol=1e-12)
    xs = np.array([x, -x, 0.3])
    np.testing.assert_allclose(vmap(grad(f))(xs), [grad(f)(x) for x in xs], rtol=1e-12)
    second = jvp(lambda x: jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[1]
    np.testing.assert_allclose(jvp(grad(f), (x,), (1.0,))[1], second, rtol=1e-12)
    np.testing.assert_allclose(grad(grad(f))(x), second, rtol=1e-12)


@pytest.mark.parametrize("shape", [(), (3,), (600,)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_cond_packed_residuals_of_arrays(shape, dtype):
    x = np.full(shape, 0.4, dtype)

    def nested(depth, x):
        if depth == 0:
            return sin(x)
        return cond(True, lambda x: nested(depth - 1, sin(x)) * x, lambda x: x, x)

    def unrolled(depth, x):
        return sin(x) if depth == 0 else unrolled(depth - 1, sin(x)) * x

    expected = vjp(lambda x: unrolled(12, x), x)[1](np.ones_like(x))[0]
    np.testing.assert_allclose(vjp(lambda x: nested(12, x), x)[1](np.ones_like(x))[0], expected, rtol=1e-6)


@pytest.mark.parametrize("depth", [1, 4])
def test_nested_cond_derivatives(depth):
    f = _nested(depth)
    expected = np.cos(0.7) * 2.0**depth
    np.testing.assert_allclose(grad(f)(0.7), expected)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], expected)
    np.testing.assert_allclose(vmap(grad(f))(np.array([0.7, -0.7])), [expected, 1.0])
    np.testing.assert_allclose(grad(grad(f))(0.7), -np.sin(0.7) * 2.0**depth)
