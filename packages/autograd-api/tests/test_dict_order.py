"""Dicts keep the order of their keys: in functions that are differentiated, in derivatives, and in vectors' trees."""

from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import (
    checkpoint,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    value_and_grad,
)
from lawful.autograd.builtins import DictBox
from lawful.autograd.extend import defjvp, defvjp, primitive, vspace
from lawful.autograd.misc import flatten
from lawful.autograd.misc.optimizers import adam, rmsprop, sgd
from lawful.autograd.test_util import check_grads
from lawful.autograd.tracer import Node, getval, trace
from lawful.core import ArgumentTypeError

Q = {"z": 1.0, "a": 2.0}
MIXED = {2: 1.0, "a": 3.0}


def f(q: Any) -> Any:
    first, second = q.values()
    return first * second**2


def same(found: Any, expected: Any) -> bool:
    """Whether two trees are equal, and their dicts have the same order."""
    if isinstance(expected, dict):
        return [*found] == [*expected] and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, tuple | list):
        return type(found) is type(expected) and all(map(same, found, expected))
    return bool(numpy.all(found == expected))


def test_grad_of_dict_in_own_order() -> None:
    assert same(grad(f)(Q), {"z": 4.0, "a": 4.0})
    assert same(value_and_grad(f)(Q), (4.0, {"z": 4.0, "a": 4.0}))
    assert same(elementwise_grad(f)(Q), {"z": 4.0, "a": 4.0})
    assert same(jacobian(f)(Q), {"z": 4.0, "a": 4.0})
    assert same(hessian(f)(Q), {"z": {"z": 0.0, "a": 4.0}, "a": {"z": 4.0, "a": 2.0}})
    assert same(grad(grad(lambda x: f({"z": x, "a": x})))(2.0), 12.0)
    assert type(grad(f)(Q)) is dict


@pytest.mark.parametrize("key", [3, None, (1, 2), 0.5])
def test_grad_of_dict_with_mixed_keys(key: Any) -> None:
    q = {"z": 1.0, key: 2.0, "a": 5.0}
    f = lambda q: q["z"] * q[key] ** 2 * q["a"]  # noqa: E731  # a formula
    assert same(grad(f)(q), {"z": 20.0, key: 20.0, "a": 4.0})
    assert same(jacobian(grad(f))(q)["a"], {"z": 4.0, key: 4.0, "a": 0.0})


def test_grad_of_nested_dicts() -> None:
    q = ([{"z": 1.0, "a": (2.0, MIXED)}], {"w": 4.0, "b": numpy.ones(2)})

    def g(q: Any) -> Any:
        first, (second, mixed) = q[0][0].values()
        w, b = q[1].values()
        return first * second**2 * w + np.sum(b) * f(mixed)

    expected = ([{"z": 16.0, "a": (16.0, {2: 18.0, "a": 12.0})}], {"w": 4.0, "b": numpy.full(2, 9.0)})
    assert same(grad(g)(q), expected)
    assert same(grad(lambda one, two: g((one, two)), (1, 0))(*q), expected[::-1])


def test_grad_of_other_dicts() -> None:
    default = grad(f)(defaultdict(float, Q))
    assert type(default) is defaultdict
    assert default.default_factory is float
    assert same(default, {"z": 4.0, "a": 4.0})
    assert same(grad(lambda q: f(q["p"]))({"p": OrderedDict(Q)}), {"p": {"z": 4.0, "a": 4.0}})


def test_dict_results_in_own_order() -> None:
    def g(q: Any) -> Any:
        return {"t": q["a"], 1: q["z"] * 3.0, "s": [q["a"] ** 2]}

    pull, value = make_vjp(g)(Q)
    assert same(value, {"t": 2.0, 1: 3.0, "s": [4.0]})
    assert same(pull({"s": [1.0], "t": 10.0, 1: 0.5}), {"z": 1.5, "a": 14.0})
    value, tangent = make_jvp(g)(Q)({"a": 1.0, "z": 10.0})
    assert same(value, {"t": 2.0, 1: 3.0, "s": [4.0]})
    assert same(tangent, {"t": 1.0, 1: 30.0, "s": [4.0]})
    expected = {"t": {"z": 0.0, "a": 1.0}, 1: {"z": 3.0, "a": 0.0}, "s": [{"z": 0.0, "a": 4.0}]}
    assert same(jacobian(g)(Q), expected)
    assert same(grad_and_aux(lambda q: (f(q), {"b": 1, "a": q["z"]}))(Q), ({"z": 4.0, "a": 4.0}, {"b": 1, "a": 1.0}))


def test_jacobian_error_names_the_result() -> None:
    with pytest.raises(TypeError, match=r"results\['z'\]\[0\]"):
        jacobian(lambda x: {"z": [3], "a": x})(2.0)


def test_products_of_dicts() -> None:
    product, gradient = make_hvp(f)(Q)
    assert same(gradient, {"z": 4.0, "a": 4.0})
    assert same(product({"a": 1.0, "z": 0.0}), {"z": 4.0, "a": 2.0})
    assert same(make_ggnvp(f)(Q)({"z": 1.0, "a": 0.0}), {"z": 16.0, "a": 16.0})
    assert same(multigrad_dict(lambda z, a: z * a**2)(1.0, a=2.0), {"z": 4.0, "a": 4.0})


def test_vspace_of_dict_in_own_order() -> None:
    space = vspace(MIXED)
    assert space == vspace({"a": 0.0, 2: 1.0})
    assert same(space.ones(), {2: 1.0, "a": 1.0})
    assert same([*space.standard_basis()], [{2: 1.0, "a": 0.0}, {2: 0.0, "a": 1.0}])
    assert same(space.add(MIXED, {"a": 10.0, 2: 20.0}), {2: 21.0, "a": 13.0})
    assert space.inner_prod(MIXED, {"a": 10.0, 2: 20.0}) == 50.0
    check_grads(f)(MIXED)


def test_flatten_of_dict_in_own_order() -> None:
    q = {"z": numpy.arange(2.0), "a": [{"c": 3.0, "b": 4.0}]}
    vector, unflatten = flatten(q)
    assert vector.tolist() == [4.0, 3.0, 0.0, 1.0]  # sorted, as Autograd's
    assert same(unflatten(vector), q)
    assert same(grad(lambda q: np.sum(flatten(q)[0] ** 2))(Q), {"z": 2.0, "a": 4.0})


@pytest.mark.parametrize("optimizer", [sgd, rmsprop, adam])
def test_optimizers_of_dict_in_own_order(optimizer: Any) -> None:
    def loss(q: Any, i: int) -> Any:
        first, second = q.values()
        return (first - 1.0) ** 2 + (second - 2.0) ** 2

    found = optimizer(grad(loss), {"z": 0.0, "a": 0.0}, step_size=0.05, num_iters=400)
    assert [*found] == ["z", "a"]
    assert numpy.allclose([*found.values()], [1.0, 2.0], atol=0.05)


def test_primitive_of_dict_in_own_order() -> None:
    seen = []

    @primitive
    def p(q: Any) -> Any:
        seen.append([*q])
        first, second = q.values()
        return {"y": first * second**2, 0: second}

    defvjp(p, lambda ans, q: lambda g: {"a": 2.0 * q["z"] * q["a"] * g["y"] + g[0], "z": q["a"] ** 2 * g["y"]})
    defjvp(p, lambda g, ans, q: {0: g["a"], "y": g["z"] * q["a"] ** 2 + 2.0 * q["z"] * q["a"] * g["a"]})

    def total(q: Any) -> Any:
        one, two = p(q).values()
        return one + 10.0 * two

    assert same(grad(total)(Q), {"z": 4.0, "a": 14.0})
    assert make_jvp(total)(Q)({"z": 1.0, "a": 1.0})[1] == 18.0
    assert same(grad(checkpoint(f))(Q), {"z": 4.0, "a": 4.0})
    assert seen == [["z", "a"]] * len(seen)


def test_values_of_dict_in_own_order() -> None:
    kinds = []

    class Plain(Node):
        def __init__(self, value: Any, *record: Any) -> None:
            fun, args, kwargs, *_ = record
            assert fun(*args, **kwargs) == value

        def initialize_root(self) -> None:
            pass

    def g(q: Any) -> Any:
        kinds.append(isinstance(q, DictBox))
        return f(q) * getval(q[2])

    assert same(grad(g)(MIXED), {2: 9.0, "a": 6.0})
    assert trace(Plain.new_root(), f, MIXED)[0] == 9.0
    assert kinds == [True]


class Pair(NamedTuple):
    z: Any
    a: Any


def test_derivative_with_another_order_inside_other_containers() -> None:
    tangent = Pair(1.0, {"b": 100.0, "q": 10.0})
    assert make_jvp(lambda p: p.z * p.a["q"])(Pair(2.0, {"q": 3.0, "b": 4.0}))(tangent)[1] == 23.0
    assert make_vjp(lambda x: Pair(x, {"q": 2 * x, "b": x}))(1.0)[0](tangent) == 121.0
    of_ordered = make_jvp(lambda p: p["z"] * p["a"]["q"])(OrderedDict(z=1.0, a={"q": 2.0, "b": 3.0}))
    assert of_ordered(OrderedDict(a={"b": 0.0, "q": 1.0}, z=0.0))[1] == 1.0
    assert make_jvp(lambda p: p["z"] * p["a"] ** 3)(OrderedDict(z=1.0, a=2.0))(OrderedDict(a=1.0, z=0.0))[1] == 12.0


def test_subclass_of_dict_that_is_no_tree() -> None:
    class Parameters(dict[str, float]):
        pass

    with pytest.raises(ArgumentTypeError, match=r"a Parameters is no tree: write dict\(x\)"):
        grad(lambda p: p["z"])(Parameters(z=1.0))
