"""Transformations of a typed function keep its types, but for maps: gradients have those of the arguments."""

from collections.abc import Callable
from typing import Any, NamedTuple, assert_type

from numpy import float64, generic
from numpy.typing import NDArray

import lawful.numpy as np
from lawful.autodiff import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from lawful.batching import vmap
from lawful.core import ClosedJaxpr
from lawful.staging import eval_shape, jit, make_jaxpr


class Parameters(NamedTuple):
    weights: list[float]
    bias: float


def loss(parameters: Parameters, x: float, *, scale: float = 1.0) -> float:
    return scale * (parameters.weights[0] * x + parameters.bias)


def loss_and_name(parameters: Parameters, x: float) -> tuple[float, str]:
    return loss(parameters, x), "loss"


def square(x: float) -> float:
    return x * x


at = Parameters([1.0], 2.0)

assert_type(grad(loss)(at, 3.0, scale=2.0), Parameters)
assert_type(grad(loss_and_name, has_aux=True)(at, 3.0), tuple[Parameters, str])
assert_type(value_and_grad(loss)(at, 3.0), tuple[float, Parameters])
assert_type(value_and_grad(loss_and_name, has_aux=True)(at, 3.0), tuple[tuple[float, str], Parameters])
assert_type(grad(grad(square))(2.0), float)
assert_type(grad(loss, argnums=1)(at, 3.0, scale=2.0), float)
assert_type(grad(loss, argnums=(0, 1))(at, 3.0), tuple[Parameters, float])
assert_type(grad(loss_and_name, (0, 1), has_aux=True)(at, 3.0), tuple[tuple[Parameters, float], str])
assert_type(value_and_grad(loss, 1)(at, 3.0), tuple[float, float])
assert_type(value_and_grad(loss, (0, 1))(at, 3.0), tuple[float, tuple[Parameters, float]])
assert_type(grad(loss, argnums=[0, 1])(at, 3.0), tuple[Any, ...])  # a list of which the checkers know no more
assert_type(grad(grad(loss, 1), 1)(at, 3.0), float)
assert_type(grad(jit(loss), 1)(at, 3.0), float)
assert_type(jit(grad(loss, (0, 1)))(at, 3.0), tuple[Parameters, float])
# Arrays of `lawful.numpy` have the type of the parameter that they are given for.
assert_type(grad(loss)(at, np.array(2.0)), Parameters)
assert_type(grad(loss, argnums=1)(at, np.array(2.0)), float)
assert_type(jvp(square, (2.0,), (1.0,)), tuple[float, float])
assert_type(jvp(loss_and_name, (at, 3.0), (at, 1.0), has_aux=True), tuple[float, float, str])

value, pullback = vjp(loss, at, 3.0)
assert_type(value, float)
assert_type(pullback(1.0), tuple[Parameters, float])
value, pullback, name = vjp(loss_and_name, at, 3.0, has_aux=True)
assert_type(name, str)
value, pushforward = linearize(square, 2.0)
assert_type(pushforward(1.0), float)


# Parameters of a lambda have the types of the arguments.
assert_type(vjp(lambda x, y: x * y, 2.0, 3.0)[0], float)
assert_type(vjp(lambda x, y: x * y, 2.0, 3.0)[1](1.0), tuple[float, float])
assert_type(linearize(lambda x, y: x * y, 2.0, 3.0)[1](1.0, 0.0), float)
assert_type(vjp(lambda x, y: (x * y, (x, y)), 2.0, 3.0, has_aux=True)[2], tuple[float, float])
assert_type(jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0)), tuple[float, float])


# A parameter of any type has that of the argument.
def power(x: Any, n: Any) -> Any:
    return x**n


assert_type(grad(power)(3.0, 2), float)
assert_type(grad(power, argnums=(0, 1))(3.0, 2.0), tuple[float, float])


# An array of any dtype as an argument leaves no result open.
def scaled(x: NDArray[Any], factor: float) -> NDArray[Any]:
    return x * factor


array: NDArray[Any] = np.ones(3)
assert_type(jvp(scaled, (array, 2.0), (array, 1.0)), tuple[NDArray[Any], NDArray[Any]])
array, pull_array = vjp(scaled, array, 2.0)
assert_type(pull_array(array), tuple[NDArray[Any], float])
array, push_array = linearize(scaled, array, 2.0)
assert_type(push_array(array, 1.0), NDArray[Any])
assert_type(push_array.jaxpr, ClosedJaxpr)
as_function: Callable[[NDArray[Any], float], NDArray[Any]] = push_array


# The checkers do not know how many arguments are in a list.
def product(x: NDArray[float64], y: NDArray[float64]) -> NDArray[float64]:
    return x * y


arguments: list[NDArray[float64]] = [np.ones(3), np.ones(3)]
ones, pull_list = vjp(product, *arguments)
assert_type(pull_list(ones), tuple[NDArray[float64], ...])
ones, push_list = linearize(product, *arguments)
assert_type(push_list(*arguments), NDArray[float64])
assert_type(vjp(lambda x, y: x * y, *arguments)[1](ones), tuple[NDArray[float64], ...])
assert_type(jvp(product, arguments, arguments), tuple[NDArray[float64], NDArray[float64]])
assert_type(jvp(product, tuple(arguments), tuple(arguments)), tuple[NDArray[float64], NDArray[float64]])


# Also where the numbers of parameters are open, or their types.
def sum_of[**P](fun: Callable[P, float], *args: P.args, **kwargs: P.kwargs) -> float:
    gradient: float = grad(fun)(*args, **kwargs)
    return fun(*args, **kwargs) + gradient


def norm[D: generic](x: NDArray[D], by: float) -> float:
    result: float = np.sum(x) * by
    return result


assert_type(sum_of(square, 2.0), float)
# Where the results are not found by a ParamSpec, they are known.
assert_type(jvp(norm, (np.ones(3), 2.0), (np.ones(3), 1.0)), tuple[float, float])
assert_type(linearize(norm, np.ones(3), 2.0)[0], float)
assert_type(jit(norm)(np.ones(3), 2.0), float)


# A function of a float becomes one of arrays, so that the types of the function say nothing of the result.
stack: NDArray[float64] = np.arange(3.0)
# mypy leaves the gradient of a function with type variables in its parameters open: a ParamSpec does not solve them.
slope_of_norm: NDArray[float64] = grad(norm)(stack, 2.0)
squares: NDArray[float64] = vmap(square)(stack)
slopes: NDArray[float64] = jit(vmap(grad(square)))(stack)
# One of arrays stays one.
assert_type(vmap(product)(np.ones((2, 3)), np.ones((2, 3))), NDArray[float64])
assert_type(vmap(product, in_axes=(0, None))(np.ones((2, 3)), np.ones(3)), NDArray[float64])
assert_type(vmap(vmap(product))(np.ones((2, 3)), np.ones((2, 3))), NDArray[float64])
assert_type(jit(loss)(at, 3.0), float)
assert_type(checkpoint(loss)(at, 3.0), float)
assert_type(stop_gradient(at), Parameters)
assert_type(make_jaxpr(loss)(at, 3.0), ClosedJaxpr)
assert_type(make_jaxpr(loss, return_shape=True)(at, 3.0)[0], ClosedJaxpr)
hessian_of_square: float = hessian(square)(2.0)
jacobian_of_square: float = jacfwd(square)(2.0)
shape: tuple[int, ...] = eval_shape(square, 2.0).shape


@jit
def decorated(x: float, n: int) -> float:
    return x * n


@jit(static_argnames="n", backend="numpy")
def decorated_with_options(x: float, n: int) -> float:
    return x * n


@jit
def decreased(parameters: Parameters, x: float) -> Parameters:
    gradient = grad(loss)(parameters, x)
    return Parameters([parameters.weights[0] - gradient.weights[0]], parameters.bias - gradient.bias)


assert_type(decorated(2.0, 3), float)
assert_type(decreased(at, 3.0), Parameters)
assert_type(decorated_with_options(2.0, n=3), float)
assert_type(decorated.__name__, str)
assert_type(grad(loss).__name__, str)
assert_type(value_and_grad(loss).__name__, str)
assert_type(decorated.lower(2.0, 3).as_text(), str)


def total(x: float) -> float:
    result: float = np.sum(np.sin(x))
    return result


print(jit(total)(np.arange(3.0)), vmap(grad(square))(np.arange(3.0)))
