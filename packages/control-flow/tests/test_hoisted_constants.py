"""Jaxprs derived from a rule that closes over an array have no constants if they are in an equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import checkpoint, grad, jvp, linearize
from lawful.batching import vmap
from lawful.control_flow import (
    cond,
    custom_linear_solve,
    custom_root,
    fori_loop,
    scan,
    while_loop,
)
from lawful.control_flow import (
    map as map_slices,
)
from lawful.core import ClosedJaxpr, alpha_equivalent, check_jaxpr, parse_jaxpr
from lawful.custom_rules import custom_jvp, custom_vjp, linear_call
from lawful.staging import jit, make_jaxpr

Function = Callable[..., Any]

M = np.array([1.0, 2.0])
X = np.array([[0.5, 1.0], [1.5, -0.5], [0.25, 2.0]])


@custom_jvp
def by_jvp(x: Any) -> Any:
    return ops.sin(x)


@by_jvp.defjvp
def _jvp(primals: Any, tangents: Any) -> Any:
    return ops.sin(primals[0]), tangents[0] * M


@custom_vjp
def by_vjp(x: Any) -> Any:
    return ops.sin(x)


by_vjp.defvjp(lambda x: (ops.sin(x), x * M), lambda res, ct: (ct * M * res,))


def _while(function: Function, **bound: Any) -> Function:
    def loop(x: Any) -> Any:
        return while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, function(c[1])), (0, x), **bound)[1]

    return loop


def _solve(f: Function) -> Function:
    def solve(x: Any) -> Any:
        a = f(x[0]) + 3.0
        return custom_linear_solve(
            lambda y: y * a, x[1], lambda _, b: b / f(x[2]), transpose_solve=lambda _, b: b / f(x[2])
        )

    return solve


def _root(f: Function) -> Function:
    def root(x: Any) -> Any:
        return custom_root(
            lambda y: y - f(x[0]) - 0.1 * f(y),
            x[1],
            lambda g, y: fori_loop(0, 20, lambda _, y: y - g(y), y),
            lambda g, y: y / g(np.ones(2)),
        )

    return root


FORMS: dict[str, Callable[[Function], Function]] = {
    "map": lambda f: lambda x: map_slices(f, x),
    "scan": lambda f: lambda x: scan(lambda c, s: (f(c), f(s) * c), x[0], x)[1],
    "fori_loop": lambda f: lambda x: fori_loop(0, 3, lambda _, c: vmap(f)(c), x),
    "while_loop": lambda f: _while(vmap(f)),
    "while_loop of max_iters": lambda f: _while(vmap(f), max_iters=5),
    "cond": lambda f: lambda x: cond(x[0, 0] > 0, vmap(f), ops.cos, x),
    "jit": lambda f: jit(vmap(f)),
    "checkpoint": lambda f: checkpoint(vmap(f)),
    "custom_linear_solve": _solve,
    "custom_root": _root,
    "linear_call": lambda f: lambda x: linear_call(lambda r, x: f(r) * x, lambda r, ct: f(r) * ct, x[0], x[1]),
    "nested": lambda f: jit(lambda x: map_slices(lambda s: cond(s[0] > 0, f, ops.cos, s), x)),
    "vmap of cond": lambda f: vmap(lambda s: cond(s[0] > 1, f, ops.cos, s)),
    "vmap of while_loop": lambda f: vmap(
        lambda s: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (s[0].astype(int), s), max_iters=9)[1]
    ),
}


def _sum(h: Function) -> Function:
    return lambda x: h(x).sum()


def _two(x: Any) -> Any:
    """Returns a batch of two values."""
    return ops.concatenate([ops.expand_dims(x, (0,)), ops.expand_dims(x + 0.5, (0,))], 0)


def _jvp_of(h: Function) -> Function:
    return lambda x: jvp(h, (x,), (x * x,))


TRANSFORMATIONS: dict[str, Callable[[Function], Function]] = {
    "jvp": _jvp_of,
    "linearize": lambda h: lambda x: linearize(h, x)[1](x * x),
    "grad": lambda h: grad(_sum(h)),
    "vmap of grad": lambda h: lambda x: vmap(grad(_sum(h)))(_two(x)),
    "grad of grad": lambda h: grad(_sum(grad(_sum(h)))),
    "jvp of grad": lambda h: _jvp_of(grad(_sum(h))),
    "vmap": lambda h: lambda x: vmap(h)(_two(x)),
}


def _has_opaque_rules(text: str) -> bool:
    return "=<" in text


REVERSE = [name for name in TRANSFORMATIONS if "jvp" not in name]
CASES = [("custom_jvp", name) for name in TRANSFORMATIONS] + [("custom_vjp", name) for name in REVERSE]


@pytest.mark.parametrize(("decorator", "transformation"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_make_jaxpr_hoists_constants(decorator: str, transformation: str, form: str) -> None:
    """Such a program is well typed, prints and parses, and has the same values."""
    function = by_jvp if decorator == "custom_jvp" else by_vjp
    program = TRANSFORMATIONS[transformation](FORMS[form](function))
    closed = make_jaxpr(program)(X)
    check_jaxpr(closed)
    text = str(closed)
    if not _has_opaque_rules(text):
        assert alpha_equivalent(parse_jaxpr(text, closed.consts), closed)
    for want, got in zip(tree.leaves(program(X)), tree.leaves(jit(program)(X)), strict=True):
        np.testing.assert_allclose(want, got, rtol=1e-12)


def _constants_within(closed: ClosedJaxpr) -> int:
    return str(closed).count("{ lambda ") - str(closed).count("{ lambda ;")


def test_jvp_of_map_has_constants_outermost() -> None:
    """The array that the rule closes over is one constant of the whole program."""
    closed = make_jaxpr(_jvp_of(FORMS["map"](by_jvp)))(X)
    assert len(closed.consts) == 1
    assert _constants_within(closed) == 1
