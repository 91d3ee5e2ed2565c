"""The carry of a loop keeps its type, and branches give that of the result."""

from collections.abc import Callable
from typing import Any, NamedTuple, assert_type

import numpy
import numpy.typing

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.control_flow import (
    associative_scan,
    cond,
    custom_linear_solve,
    custom_root,
    fori_loop,
    map,
    scan,
    switch,
    while_loop,
)


class State(NamedTuple):
    total: float
    steps: float


def negated(x: float) -> float:
    return -x


def step(state: State, x: float) -> tuple[State, float]:
    return State(state.total + x, state.steps + 1.0), state.total


def advance(state: State, _: None) -> tuple[State, float]:
    return State(state.total + 1.0, state.steps), state.total


def body(i: int, state: State) -> State:
    return State(state.total * 2.0, state.steps + i)


def small(state: State) -> bool:
    return state.total < 10.0


def doubled(state: State) -> State:
    return State(state.total * 2.0, state.steps)


def add(x: float, y: float) -> float:
    return x + y


start = State(0.0, 0.0)
xs: float = np.arange(3.0)  # an array of floats
assert_type(cond(True, negated, negated, 2.0), float)
assert_type(cond(True, lambda: start, lambda: start), State)
assert_type(switch(1, [negated, negated], 2.0), float)
assert_type(scan(step, start, xs), tuple[State, float])
assert_type(scan(advance, start, length=3), tuple[State, float])
assert_type(while_loop(small, doubled, State(1.0, 0.0)), State)
assert_type(while_loop(lambda x: x < 9.0, lambda x: x * 2.0, 1.0), float)
assert_type(fori_loop(0, 3, body, start), State)
assert_type(map(negated, xs), float)
assert_type(map(lambda x: x * 2.0, xs), float)
assert_type(map(lambda x: (x, x * 2.0), xs), tuple[float, float])
assert_type(associative_scan(add, xs), float)


def root(a: float) -> float:
    return while_loop(lambda x: x * x - a > 1e-9, lambda x: 0.5 * (x + a / x), a)


assert_type(grad(root)(9.0), float)


def newton(f: Callable[[float], float], y: float) -> float:
    # A number may start a carry of arrays, by another overload. In that one mypy gives the lambda's parameter the type
    # Any, with which the call of a gradient fits too: two overloads fit, and mypy leaves the result open.
    result: float = while_loop(lambda y: f(y) > 1e-9, lambda y: y - f(y) / grad(f)(y), y)
    return result


def divided(g: Callable[[float], float], y: float) -> float:
    return y / g(1.0)


assert_type(custom_root(lambda y: y * y - 9.0, 9.0, newton, divided), float)
assert_type(custom_linear_solve(lambda y: y * 3.0, 9.0, divided, divided), float)


Vector = numpy.typing.NDArray[numpy.float64]


def counted(total: float, x: float) -> tuple[float, float]:
    return total + x, total


# Elements of an array of NumPy have another type than the array.
array = numpy.arange(3.0)
last, totals = scan(counted, 0.0, array)
assert_type(last, float)
assert_type(totals, Any)
print(totals.shape, map(negated, array).shape)
print(scan(lambda total, x: (total + x, total), 0.0, np.arange(3.0)))  # the elements are not None


# Without elements the types are known of a function without annotations too.
vector: Vector = numpy.zeros(3)
assert_type(scan(lambda total, _: (total * 2.0, total), vector, length=3), tuple[Vector, Vector])


def descent(f: Callable[[Vector], Vector], x: Vector) -> None:
    """An array as the start leaves nothing open, also of a lambda that calls a gradient."""
    assert_type(while_loop(lambda x: f(x) > 1e-9, lambda x: x - grad(f)(x), x), Vector)
    assert_type(fori_loop(0, 3, lambda i, x: x - grad(f)(x), x), Vector)
    assert_type(scan(lambda x, _: (x - grad(f)(x), f(x)), x, length=3), tuple[Vector, Vector])


# Nor does a number, where the functions have annotations.
def improved(f: Callable[[float], float], start: float) -> float:
    slope = grad(f)

    def better(x: float) -> float:
        return x - f(x) / slope(x)

    assert_type(while_loop(lambda x: f(x) > 1e-9, better, start), float)
    return while_loop(lambda x: f(x) > 1e-9, better, start)


# mypy leaves the result of a lambda over arrays of NumPy open: their elements may have another type, for which there is
# an overload, and a lambda fits both. pyright takes the first one.
doubled_array: Vector = map(lambda x: x * 2.0, vector)
last_vector, all_vectors = scan(lambda total, x: (total + x, total), vector, array)


# A Python number as the start of a carry takes the type of the carry.
def onward(total: Vector, x: Vector) -> tuple[Vector, float]:
    return total + x, 1.0


def twice(total: Vector) -> Vector:
    return total * 2.0


def again(i: int, total: Vector) -> Vector:
    return total * 2.0


assert_type(scan(onward, 0, array)[0], Vector)
assert_type(fori_loop(0, 3, again, 1), Vector)
assert_type(while_loop(lambda total: total < 3.0, twice, 1.0), Vector)
print(fori_loop(0, 3, lambda i, n: n + i, 0))
