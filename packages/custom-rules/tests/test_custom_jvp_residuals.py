"""Residuals of calls of `custom_jvp` functions: which values linearization keeps, and for how long."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp, linearize, saved_residuals, vjp
from lawful.custom_rules import custom_jvp
from lawful.ops import Composite, cos, exp, floor, mul, sin

X = np.array([0.3, -0.7])


@pytest.mark.parametrize("constant", [0.0, np.float32(2.0), np.zeros(3), np.arange(3.0)])
def test_linearize_custom_jvp_with_constant_tangent(constant: Any, require_same: Callable[..., None]) -> None:
    @custom_jvp
    def constantly(x: Any) -> Any:
        return x * 2.0

    @constantly.defjvp
    def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        return primals[0] * 2.0, constant

    def function(x: Any) -> Any:
        return ops.sin(constantly(x)) * 0.9 * constantly(x) + ops.cos(constantly(x)) * x

    x = np.asarray(constant) * 0.1 + np.asarray(0.5, np.asarray(constant).dtype)
    for _ in range(3):  # the first call runs the rule, later ones use what it cached
        out, f_jvp = linearize(function, x)
        jaxpr = f_jvp.jaxpr.jaxpr
        linear = {*jaxpr.invars}
        for eqn in jaxpr.eqns:
            assert not linear.isdisjoint(eqn.invars), f_jvp
            linear.update(eqn.outvars)
            assert eqn.source is not None
            assert eqn.source.line == function.__code__.co_firstlineno + 1
        require_same((out, f_jvp(x)), jvp(function, (x,), (x,)))


def test_linearize_custom_jvp_tangent_mutated_later() -> None:
    held = np.arange(3.0)
    is_used = False

    @custom_jvp
    def double(x: Any) -> Any:
        return x * 2.0

    @double.defjvp
    def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        return primals[0] * 2.0, held

    def function(x: Any) -> Any:
        y = double(x)
        held[:] = 7.0
        return ops.sin(y) + x if is_used else y

    for is_used in (False, True, True, True):
        held[:] = 0.0, 1.0, 2.0
        _, f_jvp = linearize(function, np.zeros(3))
        held[:] = 9.0
        np.testing.assert_array_equal(f_jvp(np.ones(3)), [1.0, 2.0, 3.0] if is_used else [0.0, 1.0, 2.0])


def test_saved_residuals_custom_jvp_constant_tangent():
    @custom_jvp
    def steps(x):
        return sin(x), floor(x)

    @steps.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return steps(x), (mul(cos(x), t), mul(exp(x), 0.0))

    def f(x):
        return steps(x)

    assert saved_residuals(checkpoint(lambda x: f(x)[1]), X) == []
    assert [origin for _, origin in saved_residuals(checkpoint(f), X)] == ["the argument x"]
    assert [aval.shape for aval, _ in saved_residuals(f, X)] == [(2,)]
    (_, z), pull = vjp(f, X)
    assert len(pull.jaxpr.consts) == len(pull.jaxpr.out_avals) == 1
    np.testing.assert_allclose(pull((np.ones(2), np.full(2, 7.0)))[0], np.cos(X))
    np.testing.assert_array_equal(z, np.floor(X))


def test_composite_keeps_no_custom_jvp_alive() -> None:
    def make() -> tuple[Any, Any]:
        @custom_jvp
        def mine(x: Any) -> Any:
            return x * 2.0

        mine.defjvp(lambda primals, tangents: (mine(*primals), 7.0 * tangents[0]))
        apply = Composite(lambda x: mine(x) + 1.0)
        assert grad(apply)(np.float64(1.0)) == 7.0
        return weakref.ref(mine), apply

    ref, apply = make()
    apply.function = None
    gc.collect()
    assert ref() is None
