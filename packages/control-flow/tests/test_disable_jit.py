"""Within `disable_jit` loops and conditionals call their functions as Python does, with the same results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, map, scan, switch, while_loop
from lawful.core import LawfulError, Tracer, get_aval, plain
from lawful.staging import disable_jit, is_jit_disabled, jit, make_jaxpr

X = np.array([0.5, -1.5, 2.0])


def halve(x: Any) -> Any:
    return while_loop(lambda x: ops.abs(x) > 0.1, lambda x: x / 2.0, x)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "cond": (lambda x: cond(x[0] > 0.0, ops.sin, ops.cos, x), (X,)),
    "switch": (lambda x: switch(5, [ops.sin, ops.cos], x), (X,)),
    "scan": (lambda x: scan(lambda c, a: (c + a, (c * a, a)), 1.0, x), (X,)),
    "scan reversed": (lambda x: scan(lambda c, a: (c - a, c * a), 1.0, x, reverse=True), (X,)),
    "scan of nothing": (lambda x: scan(lambda c, a: (c + a, c), 1.0, x), (X[:0],)),
    "scan without slices": (lambda x: scan(lambda c, _: (c * x, None), x, length=3), (X,)),
    "map": (lambda x: map(lambda a: a * 2.0, x), (X,)),
    "fori_loop": (lambda x: fori_loop(0, 4, lambda i, x: x + i, x), (X,)),
    "while_loop": (halve, (3.0,)),
    "jit of jit": (jit(lambda x: jit(ops.sin)(x) * 2.0), (X,)),
    "grad of a loop": (grad(lambda x: scan(lambda c, a: (c * a, None), 1.0, x)[0]), (X,)),
    "grad of while_loop": (grad(halve), (3.0,)),
    "vmap of while_loop": (vmap(halve), (X,)),
    "vmap of cond": (vmap(lambda x: cond(x > 0.0, ops.sin, ops.cos, x)), (X,)),
}


@pytest.mark.parametrize(("function", "args"), PROGRAMS.values(), ids=PROGRAMS)
def test_disable_jit_changes_no_result(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    expected = function(*args)
    with disable_jit():
        found = function(*args)
    assert tree.structure(found) == tree.structure(expected)
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        assert get_aval(x) == get_aval(y)
        np.testing.assert_allclose(x, y, rtol=1e-15)


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a carry of another shape": (
        lambda: scan(lambda c, x: (c[:1], x), X, X), "got f64[1] for the f64[3] of init",
    ),
    "a carry of another structure": (
        lambda: while_loop(lambda x: x < 3.0, lambda x: (x, x), 0.0), "expected <lambda> to give back the structure",
    ),
    "results of two structures": (
        lambda: scan(lambda c, x: (c, x if x > 0 else (x, x)), 0.0, X), "expected results of <lambda> of one structure",
    ),
    "an array as predicate": (
        lambda: while_loop(lambda x: x < 3.0, lambda x: x, X), "expected a boolean scalar as the result of <lambda>",
    ),
    "text as predicate": (
        lambda: while_loop(lambda x: "no", lambda x: x, X), "expected a boolean scalar as the result of <lambda>",
    ),
    "text as a result": (lambda: cond(True, lambda: "a", lambda: 1.0), "cond of true_fun: expected a function"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_disable_jit_explains_mistakes(call: Callable[[], Any], message: str) -> None:
    with disable_jit(), pytest.raises(LawfulError, match=re.escape(message)):
        call()


def test_disable_jit_functions_see_values() -> None:
    seen: list[Any] = []

    def see(x: Any) -> Any:
        seen.append(x)
        return x * 2.0

    with disable_jit():
        jit(see)(1.0)
        fori_loop(0, 2, lambda i, x: see(x), 1.0)
        cond(True, see, ops.cos, 1.0)
        while_loop(lambda x: x < 3.0, see, 1.0)
    assert len(seen) == 6
    assert not any(isinstance(x, Tracer) for x in seen)
    fori_loop(0, 2, lambda i, x: see(x), 1.0)
    assert isinstance(seen[-1], Tracer)


def test_disable_jit_unknown_predicate_stays_an_equation() -> None:
    with disable_jit():
        program = make_jaxpr(lambda x: cond(x > 0.0, ops.sin, halve, x))(1.0)
    assert program.eqns[-1].primitive.name == "cond"


def test_disable_jit_nests_and_ends_after_an_error() -> None:
    with disable_jit():
        with disable_jit(False):
            assert not is_jit_disabled()
        with plain():
            assert is_jit_disabled()
        assert is_jit_disabled()
    with pytest.raises(ZeroDivisionError), disable_jit():
        jit(lambda: 1 / 0)()
    assert not is_jit_disabled()


def test_disable_jit_keeps_carries_apart_that_a_body_writes() -> None:
    def body(x: Any, y: Any) -> tuple[Any, Any]:
        x += 1
        return x, y + x

    start = np.array(1.0)
    with disable_jit():
        _, total = while_loop(lambda carry: carry[0] < 10, lambda carry: body(*carry), (start, start))
        (_, sum_of_scan), _ = scan(lambda carry, _: (body(*carry), ()), (start, start), None, length=9)
    assert (start, total, sum_of_scan) == (1.0, 55.0, 55.0)
