"""lawful.autograd and Autograd: the same operators give the same numbers."""

from types import ModuleType
from typing import Any

import autograd
import autograd.extend
import autograd.misc
import autograd.misc.optimizers
import autograd.numpy
import numpy
import pytest

import lawful.autograd
import lawful.autograd.extend
import lawful.autograd.misc
import lawful.autograd.misc.optimizers
import lawful.autograd.numpy
from lawful import tree

BOTH = [(autograd, autograd.numpy), (lawful.autograd, lawful.autograd.numpy)]
X = numpy.array([0.5, -1.0, 2.0])
A = numpy.arange(6.0).reshape(2, 3) / 3.0
V = numpy.array([1.0, 2.0, -1.0])


def agree(make: Any) -> None:
    """Compares what a function gives for each package and its NumPy namespace."""
    expected, found = [tree.leaves(make(package, np)) for package, np in BOTH]
    assert len(expected) == len(found)
    for x, y in zip(expected, found, strict=True):
        assert numpy.shape(x) == numpy.shape(y)
        assert numpy.allclose(x, y, rtol=1e-10, atol=1e-12)


FUNCTIONS = {
    "vector": lambda np: lambda x: np.tanh(A @ x) * np.exp(x[0]),
    "number": lambda np: lambda x: np.log(np.sum(np.exp(x**2))),
    "matrix": lambda np: lambda x: np.outer(x, np.sin(x)).T,
    "indexed": lambda np: lambda x: np.where(x > 0, x[::-1] * x[[0, 2, 1]], np.cumsum(x)),
    "complex": lambda np: lambda x: np.abs(np.exp(1j * x) * x[1]) ** 2 + np.real(np.fft.fft(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_agree(name: str) -> None:
    make = FUNCTIONS[name]
    agree(lambda ag, np: ag.jacobian(make(np))(X))
    agree(lambda ag, np: ag.elementwise_grad(make(np))(X))
    agree(lambda ag, np: ag.hessian(lambda x: np.sum(make(np)(x) ** 2))(X))
    agree(lambda ag, np: ag.value_and_grad(lambda x: np.sum(make(np)(x)))(X))


def test_products_agree() -> None:
    agree(lambda ag, np: ag.make_vjp(FUNCTIONS["vector"](np))(X)[0](numpy.ones(2)))
    agree(lambda ag, np: ag.make_jvp(FUNCTIONS["vector"](np))(X)(V))
    agree(lambda ag, np: ag.hessian_vector_product(FUNCTIONS["number"](np))(X, V))
    agree(lambda ag, np: ag.make_hvp(FUNCTIONS["number"](np))(X)[0](V))
    agree(lambda ag, np: ag.vector_jacobian_product(FUNCTIONS["vector"](np))(X, numpy.ones(2)))
    agree(lambda ag, np: ag.make_ggnvp(FUNCTIONS["vector"](np))(X)(V))
    agree(lambda ag, np: ag.differential_operators.make_jvp_reversemode(FUNCTIONS["vector"](np))(X)(V))
    agree(lambda ag, np: ag.deriv(np.sin)(0.5))
    agree(lambda ag, np: ag.holomorphic_grad(lambda z: np.exp(z) * z)(0.5 + 1j))


def test_gradients_of_trees_agree() -> None:
    point = {"w": [A, 2.0], "b": (X,)}
    agree(lambda ag, np: ag.grad(lambda p: np.sum(p["w"][0] @ p["b"][0]) * p["w"][1])(point))
    agree(lambda ag, np: ag.grad(lambda x, y: np.sum(x) * y, (0, 1))(X, 3.0))
    agree(lambda ag, np: ag.grad_named(lambda x, y: np.sum(x) * y**2, "y")(X, 3.0))
    agree(lambda ag, np: ag.grad_and_aux(lambda x: (np.sum(x**2), x * 2.0))(X))


def test_order_of_dicts_agrees() -> None:
    """Functions, gradients, Hessians and vectors' trees have the keys of a dict in the order of the argument."""

    def ordered(ag: ModuleType, np: ModuleType) -> list[Any]:
        q = {"z": 1.0, 2: 3.0, "a": [{"c": 2.0, "b": 5.0}]}

        def f(q: Any) -> Any:
            first, second, (inner,) = q.values()
            third, fourth = inner.values()
            return first * second**2 * third**3 + fourth

        gradient = ag.grad(f)(q)
        vector, unflatten = ag.misc.flatten({"z": X, "a": 4.0})
        return [
            ag.value_and_grad(f)(q)[0],
            [*gradient],
            [*gradient["a"][0].items()],
            [*ag.extend.vspace(q).zeros()],
            vector.tolist(),
            [*unflatten(vector)],
        ]

    expected, found = [ordered(package, np) for package, np in BOTH]
    assert found == expected


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers_agree(name: str) -> None:
    def optimized(ag: ModuleType, np: ModuleType) -> Any:
        gradient = ag.grad(lambda p, i: np.sum((p["x"] - V) ** 4) + p["y"] ** 2)
        return getattr(ag.misc.optimizers, name)(gradient, {"x": X, "y": 1.5}, num_iters=30)

    agree(optimized)


def test_primitives_agree() -> None:
    def derived(ag: ModuleType, np: ModuleType) -> Any:
        @ag.extend.primitive
        def logsumexp(x: Any) -> Any:
            largest = numpy.max(x)
            return largest + numpy.log(numpy.sum(numpy.exp(x - largest)))

        ag.extend.defvjp(logsumexp, lambda ans, x: lambda g: g * np.exp(x - ans))
        f = lambda x: logsumexp(x**2) * x[0]  # noqa: E731
        return ag.grad(f)(X), ag.hessian(f)(X)

    agree(derived)
