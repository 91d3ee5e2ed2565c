"""The barrier is the identity for every rule, and rules keep it."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import NonArrayError, ShapedArray, UndefinedPrimal, Zero, get_aval
from lawful.ops import optimization_barrier, optimization_barrier_p


def rule(slot):
    return optimization_barrier_p.rule(slot)


def test_optimization_barrier_returns_its_tree(assert_same):
    x = {"a": np.arange(3), "b": (2.0, np.ones((2, 0), np.float32), None)}
    out = optimization_barrier(x)
    assert out["b"][2] is None
    assert_same(out["a"], x["a"])
    assert_same(out["b"][0], np.float64(2.0))  # a Python scalar becomes strong
    assert_same(out["b"][1], x["b"][1])
    assert optimization_barrier(()) == ()


def test_optimization_barrier_refuses_other_values():
    with pytest.raises(NonArrayError):
        optimization_barrier("text")


def test_optimization_barrier_of_derivatives(strictly):
    x, y = np.ones(2), np.zeros(3)
    zero = Zero(get_aval(y))
    with strictly() as trace:
        outs, dots = rule("jvp")([x, y], [2.0 * x, zero])
    assert trace.names == ["optimization_barrier"] * 2
    np.testing.assert_array_equal(outs[0], x)
    np.testing.assert_array_equal(dots[0], 2.0 * x)
    assert dots[1] is zero
    with strictly() as trace:
        (x_bar, y_bar) = rule("transpose")([x, zero], UndefinedPrimal(get_aval(x)), y)
    assert trace.names == ["optimization_barrier"]
    np.testing.assert_array_equal(x_bar, x)
    assert y_bar is None


def test_optimization_barrier_keeps_batch_dimensions():
    x, y = np.ones((2, 5)), np.ones(3)
    outs, dims = rule("batch")([x, y], [1, None])
    assert [out.shape for out in outs] == [(2, 5), (3,)]
    assert list(dims) == [1, None]


def test_optimization_barrier_keeps_types():
    avals = [ShapedArray((2,), "float32"), ShapedArray((), "int64", True)]
    assert rule("abstract_eval")(*avals) == avals


def test_optimization_barrier_keeps_values(calls, assert_same):
    for args, params, _ in calls(ops.optimization_barrier_p):
        for got, want in zip(optimization_barrier_p.bind(*args, **params), args, strict=True):
            assert_same(got, want)
