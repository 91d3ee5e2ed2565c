"""Devices take different branches inside ``shard_map``: what runs there has the derivatives that ``vmap`` has."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp, vjp
from lawful.batching import axis_index, psum, vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, fori_loop, scan, switch, while_loop
from lawful.core import check_jaxpr
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.parallel import PartitionSpec as P
from lawful.parallel import make_mesh, numpy_devices, shard_map
from lawful.staging import jit, make_jaxpr

Function = Callable[[Any], Any]
MESH = make_mesh((2,), ("x",), devices=numpy_devices(2))
X = np.arange(4.0) + 0.3


@custom_jvp
def sine(x: Any) -> Any:
    return ops.sin(x)


sine.defjvp(lambda primals, tangents: (ops.sin(primals[0]), ops.mul(ops.cos(primals[0]), tangents[0])))


@custom_jvp
def ones(x: Any) -> Any:
    return ops.full_like(x, 1.0)


ones.defjvp(lambda primals, tangents: (ops.full_like(primals[0], 1.0), ops.mul(tangents[0], 2.0)))


@custom_vjp
def ones_by_vjp(x: Any) -> Any:
    return ops.full_like(x, 1.0)


ones_by_vjp.defvjp(lambda x: (ops.full_like(x, 1.0), None), lambda _, ct: (ops.mul(ct, 2.0),))


def total(x: Any) -> Any:
    return ops.reduce_sum(x, (0,))


def compiled(function: Callable[..., Any]) -> Any:
    return jit(function, backend="numpy")


def solve(a: Any, b: Any) -> Any:
    def divide(product: Function, b: Any) -> Any:
        return ops.div(b, product(np.ones(2)))

    return custom_linear_solve(lambda v: ops.mul(a, v), b, divide, symmetric=True)


def root(a: Any) -> Any:
    return custom_root(
        lambda v: ops.sub(ops.mul(v, v), a), np.ones(2), lambda f, guess: ops.sqrt(a),
        lambda g, y: ops.div(y, g(np.ones(2))),
    )  # fmt: skip


CONSTRUCTS: dict[str, Function] = {
    "switch": lambda e: switch(1, [lambda h: h, lambda h: ops.mul(h, 2.0)], e),
    "switch of closures": lambda e: switch(1, [lambda: e, lambda: ops.mul(e, 2.0)]),
    "cond": lambda e: cond(np.bool_(True), lambda h: h, ops.sin, e),
    "jit": lambda e: compiled(lambda h: ops.mul(h, 2.0))(e),
    "jit of a closure": lambda e: compiled(lambda: ops.mul(e, 2.0))(),
    "scan": lambda e: scan(lambda c, x: (ops.add(ops.sin(c), x), None), e, np.ones((3, 2)))[0],
    "scan of slices": lambda e: ops.mul(scan(lambda c, x: (ops.add(c, x), None), np.zeros(()), e)[0], e),
    "fori_loop": lambda e: fori_loop(0, 3, lambda i, c: ops.mul(c, e), e),
    "checkpoint": lambda e: checkpoint(ops.sin)(e),
    "custom_jvp": sine,
    "custom_jvp of ones": ones,
    "custom_vjp of ones": ones_by_vjp,
    "scan of ones": lambda e: scan(lambda c, _: (ones(e), None), np.zeros(2), None, 2)[0],
    "while_loop of ones": lambda e: while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, ones(e)), (0, np.zeros(2)), max_iters=2
    )[1],
    "cond of ones": lambda e: cond(ops.lt(ops.reduce_sum(e, (0,)), 9.0), lambda: ones(e), lambda: np.zeros(2)),
    "vmap": lambda e: vmap(ops.sin)(e),
    "grad": grad(lambda h: total(ops.sin(h))),
    "grad of jit": grad(lambda h: total(compiled(ops.sin)(h))),
    "grad of cond": grad(lambda h: total(cond(np.bool_(True), lambda q: ops.mul(q, q), ops.sin, h))),
    "vjp": lambda e: vjp(compiled(ops.sin), e)[1](ops.mul(e, e))[0],
    "linear solve": lambda e: solve(ops.add(e, 1.0), np.ones(2)),
    "root": lambda e: root(ops.add(e, 1.0)),
}


def shared(x: Any) -> Any:
    """A value that is the same on both devices."""
    return ops.mul(ops.broadcast_in_dim(psum(total(x), "x"), (2,), ()), 0.1)


OPERANDS: dict[str, Function] = {
    "a constant": lambda x: np.array([0.5, 0.2]),
    "shared": shared,
    "varying": lambda x: ops.mul(x, 0.1),
}


def in_branch(construct: Function, x: Any, operand: Any) -> Any:
    return cond(ops.lt(total(x), 2.0), lambda: ops.mul(operand, 1.0), lambda: construct(operand))


def in_unequal_loop(construct: Function, x: Any, operand: Any) -> Any:
    steps = ops.add(axis_index("x"), np.int32(1))
    _, out = while_loop(
        lambda state: ops.lt(state[0], steps),
        lambda state: (ops.add(state[0], np.int32(1)), ops.add(state[1], construct(operand))),
        (np.int32(0), np.zeros(2)), max_iters=2,
    )  # fmt: skip
    return out


def before_unequal_loop(construct: Function, x: Any, operand: Any) -> Any:
    steps = ops.add(axis_index("x"), np.int32(1))
    _, out = while_loop(
        lambda state: ops.lt(state[0], steps), lambda state: (ops.add(state[0], np.int32(1)), ops.sin(state[1])),
        (np.int32(0), construct(operand)), max_iters=2,
    )  # fmt: skip
    return out


def outside(construct: Function, x: Any, operand: Any) -> Any:
    return construct(operand)


PLACES: dict[str, Callable[[Function, Any, Any], Any]] = {
    "a branch": in_branch, "an unequal loop": in_unequal_loop,
    "the first carry of an unequal loop": before_unequal_loop, "no branch": outside,
}  # fmt: skip


def summed_both_ways(f: Function) -> tuple[Function, Function]:
    """Returns the sums of the results of a function on a mesh, and under ``vmap``."""

    def of_mesh(x: Any) -> Any:
        return total(shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(x))

    def of_vmap(x: Any) -> Any:
        return ops.reduce_sum(vmap(f, axis_name="x")(ops.reshape(x, (2, 2))), (0, 1))

    return of_mesh, of_vmap


@pytest.mark.parametrize("operand", list(OPERANDS))
@pytest.mark.parametrize("construct", list(CONSTRUCTS))
@pytest.mark.parametrize("place", list(PLACES))
def test_constructs_where_devices_diverge_are_those_of_vmap(place: str, construct: str, operand: str) -> None:
    def f(x: Any) -> Any:
        return ops.mul(x, PLACES[place](CONSTRUCTS[construct], x, OPERANDS[operand](x)))

    of_mesh, of_vmap = summed_both_ways(f)
    gradient, along = jvp(grad(of_vmap), (X,), (X,))
    np.testing.assert_allclose(jvp(grad(of_mesh), (X,), (X,)), (gradient, along))
    check_jaxpr(make_jaxpr(grad(of_mesh))(X))
    # The other ways to derivatives, which the second one has in it: with each pair of place, construct and operand.
    if (list(PLACES).index(place) + list(CONSTRUCTS).index(construct)) % len(OPERANDS) == [*OPERANDS].index(operand):
        value, tangent = jvp(of_vmap, (X,), (X,))
        np.testing.assert_allclose(of_mesh(X), value)
        np.testing.assert_allclose(grad(of_mesh)(X), gradient)
        np.testing.assert_allclose(jvp(of_mesh, (X,), (X,)), (value, tangent))


def test_cotangent_that_varies_more_goes_through_calls() -> None:
    def f(x: Any) -> Any:
        _, pull = vjp(compiled(lambda q: ops.mul(q, q)), psum(total(x), "x"))
        return ops.mul(x, pull(total(x))[0])

    found = shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(X)
    np.testing.assert_allclose(found, np.ravel(vmap(f, axis_name="x")(X.reshape(2, 2))))


@pytest.mark.parametrize("matrix", ["shared", "varying"])
@pytest.mark.parametrize("right", ["a constant", "shared", "varying"])
def test_linear_solve_of_operands_that_vary_differently(matrix: str, right: str) -> None:
    def f(x: Any) -> Any:
        return ops.mul(x, solve(ops.add(OPERANDS[matrix](x), 1.0), OPERANDS[right](x)))

    of_mesh, of_vmap = summed_both_ways(f)
    np.testing.assert_allclose(of_mesh(X), of_vmap(X))
    np.testing.assert_allclose(grad(of_mesh)(X), grad(of_vmap)(X))


BATCHED: dict[str, Callable[[Any, Any], Any]] = {
    "cond": lambda e, b: cond(ops.gt(e, 1.0), lambda: b, lambda: e),
    "cond of all": lambda e, b: cond(ops.gt(b, 1.0), lambda: b, lambda: e),
    "scan": lambda e, b: scan(lambda c, _: (ops.mul(c, b), e), b, None, length=2)[0],
    "while_loop": lambda e, b: while_loop(lambda c: ops.lt(c, e), lambda c: ops.add(c, b), b),
    "jit": lambda e, b: compiled(lambda b: ops.mul(b, e))(b),
}


@pytest.mark.parametrize("construct", BATCHED)
@pytest.mark.parametrize("number", [0.48, np.float64(0.48)], ids=["float", "float64"])
def test_a_shared_number_is_an_operand_of_a_batched_call(construct: str, number: Any) -> None:
    def f(x: Any, b: Any) -> Any:
        return vmap(lambda e: BATCHED[construct](e, b))(x)

    found = shard_map(f, mesh=MESH, in_specs=(P("x"), P()), out_specs=P("x"))(X, number)
    np.testing.assert_allclose(found, f(X, number))
