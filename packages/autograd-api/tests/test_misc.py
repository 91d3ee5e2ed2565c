"""Flattening, optimizers, fixed points, recorded graphs, and traces with nodes of one's own."""

from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import grad, jacobian
from lawful.autograd.misc import const_graph, flatten
from lawful.autograd.misc.fixed_points import fixed_point
from lawful.autograd.misc.flatten import flatten_func
from lawful.autograd.misc.optimizers import adam, rmsprop, sgd
from lawful.autograd.misc.tracers import full_graph
from lawful.autograd.test_util import check_grads
from lawful.autograd.tracer import Node, trace
from lawful.autograd.util import subval, toposort

TREE = {"b": [2.0, numpy.arange(6.0).reshape(2, 3)], "a": (numpy.ones(2), ())}


def test_flatten_is_inverted() -> None:
    vector, unflatten = flatten(TREE)
    assert vector.tolist() == [1.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert numpy.array_equal(flatten(unflatten(vector))[0], vector)
    assert unflatten(vector)["b"][1].shape == (2, 3)
    unflatten(vector)["b"][1][...] = 7.0
    assert vector[3] == 0.0
    assert flatten(())[0].shape == (0,)
    assert flatten(1 + 1j)[0].dtype == complex


def test_flatten_differentiates() -> None:
    gradient = grad(lambda p: np.sum(flatten(p)[0] ** 2))(TREE)
    assert numpy.array_equal(gradient["b"][1], 2.0 * TREE["b"][1])
    f, unflatten, vector = flatten_func(lambda p: {"x": p["b"][0] * p["a"][0]}, TREE)
    assert jacobian(f)(vector).shape == (2, 9)
    assert unflatten(vector)["b"][0] == 2.0


@pytest.mark.parametrize(("optimizer", "step_size"), [(sgd, 0.1), (rmsprop, 0.02), (adam, 0.1)])
def test_optimizers_minimize_trees(optimizer: Any, step_size: float) -> None:
    def loss(p: Any, i: int) -> Any:
        return np.sum((p["x"] - numpy.array([1.0, -2.0])) ** 2) + (p["y"][0] - 3.0) ** 2

    seen = []
    start = {"x": numpy.zeros(2), "y": [0.0]}
    found = optimizer(
        grad(loss), start, lambda p, i, g: seen.append((i, p["y"], g["x"])), num_iters=400, step_size=step_size
    )
    assert numpy.allclose(found["x"], [1.0, -2.0], atol=0.05)
    assert numpy.allclose(found["y"][0], 3.0, atol=0.05)
    assert start["x"].tolist() == [0.0, 0.0]
    assert [i for i, *_ in seen] == [*range(400)]
    assert numpy.array_equal(seen[0][2], [-2.0, 4.0])


def test_fixed_point_differentiates_twice() -> None:
    def newton(a: Any) -> Any:
        return lambda x: 0.5 * (x + a["a"] / x)

    def root(a: Any) -> Any:
        return fixed_point(newton, {"a": a}, 1.0, lambda x, y: abs(x - y), 1e-12)

    assert abs(root(2.0) - 2.0**0.5) < 1e-12
    assert abs(grad(root)(2.0) - 0.5 / 2.0**0.5) < 1e-12
    assert abs(grad(grad(root))(2.0) + 0.25 / 2.0**1.5) < 1e-10


def test_const_graph_runs_once() -> None:
    calls = []

    def f(x: Any, y: Any, k: float = 1.0) -> Any:
        calls.append(1)
        return k * grad(lambda z: np.sin(z) + z**2)(x * y)

    replayed = const_graph(f, k=2.0)
    for x, y in [(0.0, 1.0), (1.0, 0.5), (2.0, 3.0)]:
        assert abs(replayed(x, y) - 2.0 * (numpy.cos(x * y) + 2.0 * x * y)) < 1e-12
    assert len(calls) == 1
    with pytest.raises(ValueError, match="independent"), pytest.warns(UserWarning, match="independent"):
        const_graph(lambda x: 1.0)(2.0)


class NameNode(Node):
    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        self.text = f"{fun.__name__}({', '.join(p.text for p in parents)})"
        assert fun(*args, **kwargs) == value

    def initialize_root(self, text: str) -> None:
        self.text = text


def test_trace_makes_nodes() -> None:
    value, node = trace(NameNode.new_root("x"), lambda x: np.sin(x) * x, numpy.float64(0.5))
    assert value == numpy.sin(0.5) * 0.5
    assert node.text == "mul(sin(x), x)"
    value, node = trace(NameNode.new_root("x"), lambda p: p[0] * p[1], (2.0, 3.0))
    assert (value, node.text) == (6.0, "mul(leaf(x), leaf(x))")
    with pytest.warns(UserWarning, match="independent"):
        assert trace(NameNode.new_root("x"), lambda x: 1.0, 0.5) == (1.0, None)


def test_full_graph_and_toposort() -> None:
    end = full_graph(lambda x: np.sin(x) + x, numpy.float64(0.5))
    nodes = [*toposort(end, parents=lambda node: [parent for _, parent in node.recipe[3]])]
    assert nodes[0] is end
    assert [node.recipe[0].__name__ for node in nodes][:3] == ["add", "sin", "leaf"]
    assert end.value == numpy.sin(0.5) + 0.5


def test_util() -> None:
    assert subval((1, 2), 1, 5) == (1, 5)
    check_grads(lambda x, y: x * y, (0, 1))(2.0, numpy.ones(2))
