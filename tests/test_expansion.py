"""The rules in the slot "expand": what a transformation without a rule of its own for a primitive falls back on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful import ops, tree
from lawful.autodiff import checkpoint, grad
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, fori_loop, scan, switch, while_loop
from lawful.core import Primitive, Trace, current, get_aval, new_trace, primitives_by_name, set_current
from lawful.custom_rules import custom_jvp, custom_vjp, linear_call
from lawful.laws import RandomChoose
from lawful.staging import jit


class ExpandTrace(Trace):
    """Evaluates by expansion wherever there is one, and lists the primitives that were expanded."""

    __slots__ = ("expanded",)

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, "expand")
        self.expanded: set[str] = set()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if "expand" not in primitive.rules:
            return self.parent.process_primitive(primitive, args, params)  # type: ignore[union-attr]
        self.expanded.add(primitive.name)
        with set_current(self):
            return primitive.rule("expand")(*args, **params)


def expanded(function: Callable[..., Any], *args: Any) -> tuple[Any, set[str]]:
    trace = ExpandTrace(current.trace)
    with new_trace(trace):
        return function(*args), trace.expanded


@custom_jvp
def with_jvp(x: Any) -> Any:
    return lnp.sin(x) - x


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0]))


@custom_vjp
def with_vjp(x: Any) -> Any:
    return lnp.cos(x) ** 2


with_vjp.defvjp(lambda x: (with_vjp(x), None), lambda _, ct: (ct,))


def collatz(n: Any) -> Any:
    return while_loop(lambda n: n > 1, lambda n: lnp.where(n % 2 == 0, n // 2, 3 * n + 1), n)


def shrink(x: Any) -> Any:
    return while_loop(lambda x: x > 1.0, lambda x: 0.7 * x + 0.1 * lnp.sin(x), x)


def quotient(x: Any) -> Any:
    return custom_linear_solve(lambda y: (2.0 + x**2) * y, x, lambda _, b: b / (2.0 + x**2), symmetric=True)


def square_root(x: Any) -> Any:
    def newton(f: Any, y: Any) -> Any:
        return fori_loop(0, 8, lambda _, y: 0.5 * (y + x / y), y)

    return custom_root(lambda y: y**2 - x, 1.0, newton, lambda g, y: y / g(1.0))


X = np.array([0.5, -1.25, 2.0])
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "jit": (jit(lambda x: lnp.sin(x) - x), (X,), "jit"),
    "jit in jit": (jit(lambda x: jit(lambda x: x**2)(x) - x), (X,), "jit"),
    "checkpoint": (checkpoint(lambda x: lnp.sin(x) - x), (X,), "checkpoint"),
    "cond": (lambda x: cond(x[0] > 0, lambda x: x - 1.0, lnp.exp, x), (X,), "cond"),
    "cond out of bounds": (lambda x: switch(7, [lnp.exp, lambda x: x - 1.0], x), (X,), "cond"),
    "scan": (lambda x: scan(lambda c, a: (c - a, c * a), x[0], x), (X,), "scan"),
    "scan reversed": (lambda x: scan(lambda c, a: (c - a, (c, a)), x[0], x, reverse=True), (X,), "scan"),
    "scan of nothing": (lambda x: scan(lambda c, a: (c - a, c * a), 1.0, x), (X[:0],), "scan"),
    "scan with constants": (lambda x: scan(lambda c, _: (c - x, None), x, None, length=3), (X,), "scan"),
    "fori_loop": (lambda x: fori_loop(0, 3, lambda i, c: c - x * i, x), (X,), "scan"),
    "while_loop": (collatz, (7,), "while"),
    "while_loop of a batch": (vmap(collatz), (np.array([7, 1, 12]),), "while"),
    "vmap of cond": (vmap(lambda x: cond(x > 0, lambda x: x - 1.0, lnp.exp, x)), (X,), "batched_cond"),
    "grad of while_loop": (grad(shrink), (2.5,), "reversed_while"),
    "custom_linear_solve": (quotient, (X,), "linear_solve"),
    "custom_root": (square_root, (2.0,), "root"),
    "linear_call": (lambda x: linear_call(lambda r, x: r * x - x, lambda r, y: r * y - y, 3.0, x), (X,), "linear_call"),
    "custom_jvp": (with_jvp, (X,), "custom_jvp_call"),
    "custom_vjp": (with_vjp, (X,), "custom_vjp_call"),
    "grad of a loop": (grad(lambda x: fori_loop(0, 3, lambda i, c: c * x[0] - c, x).sum()), (X,), "scan"),
}


@pytest.mark.parametrize(("function", "args", "name"), CALLS.values(), ids=CALLS)
def test_expand_is_evaluation(function: Callable[..., Any], args: tuple[Any, ...], name: str) -> None:
    found, names = expanded(jit(function, backend="numpy") if name != "jit" else function, *args)
    expected = function(*args)
    assert name in names
    assert tree.structure(found) == tree.structure(expected)
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        assert get_aval(x).update(weak_type=False) == get_aval(y).update(weak_type=False)
        np.testing.assert_allclose(x, y, rtol=1e-14)


ELEMENTWISE = [ops.sub_p, ops.square_p, ops.integer_pow_p]


@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_expand_of_elementwise_primitives(primitive: Primitive, seed: int) -> None:
    assert primitive.declaration is not None
    avals, params = primitive.declaration.sample(RandomChoose(seed))
    random = np.random.default_rng(seed)
    args = [np.asarray(random.uniform(0.5, 2.0, aval.shape) * 2, aval.dtype) for aval in avals]
    found, expected = primitive.rule("expand")(*args, **params), primitive.bind(*args, **params)
    assert get_aval(found) == get_aval(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-2 if avals[0].dtype.itemsize == 2 else 1e-5)


def test_expand_is_tested_for_every_elementwise_primitive() -> None:
    with_expansion = {p for p in primitives_by_name.values() if "expand" in p.rules and p.declaration is not None}
    assert {p for p in with_expansion if p.declaration is not None and p.declaration.pointwise} == set(ELEMENTWISE)
