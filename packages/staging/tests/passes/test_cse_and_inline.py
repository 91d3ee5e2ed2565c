"""Common subexpressions and inlining: they keep meaning, are idempotent, and leave nothing that they are for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.core import alpha_equivalent, check_jaxpr, eval_closed_jaxpr, jaxprs_in_params
from lawful.ops import add, cos, mul, sin
from lawful.staging import cse_jaxpr, inline_jaxpr, jit, jit_p, make_jaxpr


def nested(x: Any, y: Any) -> Any:
    """Calls inside calls, the same call twice, and values computed again."""
    inner = jit(lambda a: mul(sin(a), sin(a)))
    outer = jit(lambda a, b: add(inner(a), mul(inner(b), y)))
    return outer(x, y), add(outer(x, y), mul(cos(x), cos(x))), 2.0


def constants(x: Any, y: Any) -> Any:
    return add(mul(x, 0.0), mul(x, -0.0)), add(mul(y, np.nan), mul(y, np.nan)), x


PROGRAMS = [nested, constants, lambda x, y: (x, x, y), lambda x, y: (mul(x, y), mul(x, y), mul(y, x))]


@pytest.mark.parametrize("rewrite", [cse_jaxpr, inline_jaxpr, lambda j: cse_jaxpr(inline_jaxpr(j))])
@pytest.mark.parametrize("program", PROGRAMS)
def test_cse_and_inline_keep_meaning_and_are_idempotent(
    program: Callable[..., Any], rewrite: Callable[..., Any]
) -> None:
    args = np.float64(0.7), np.arange(3.0)
    jaxpr = make_jaxpr(program)(*args)
    rewritten = rewrite(jaxpr)
    check_jaxpr(rewritten)
    for got, want in zip(eval_closed_jaxpr(rewritten, *args), eval_closed_jaxpr(jaxpr, *args), strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    assert alpha_equivalent(rewrite(rewritten), rewritten)


def test_inline_leaves_no_call() -> None:
    jaxpr = inline_jaxpr(make_jaxpr(nested)(1.0, 2.0))
    assert all(eqn.primitive is not jit_p for eqn in jaxpr.eqns)
    assert sum(eqn.primitive.name == "sin" for eqn in jaxpr.eqns) == 8


def test_inline_keeps_a_call_with_its_own_constants() -> None:
    x = np.ones(3)
    callee = make_jaxpr(lambda x: mul(x, np.arange(3.0)))(x)
    inlined = inline_jaxpr(make_jaxpr(lambda x: jit_p.bind(x, jaxpr=callee, name="callee"))(x))
    check_jaxpr(inlined)
    np.testing.assert_array_equal(eval_closed_jaxpr(inlined, x)[0], np.arange(3.0))


def test_inline_keeps_source_lines() -> None:
    def inner(x: Any) -> Any:
        return sin(x)

    def outer(x: Any) -> Any:
        return cos(jit(inner)(x))

    jaxpr = inline_jaxpr(make_jaxpr(outer)(1.0))
    lines = {eqn.primitive.name: eqn.source.function for eqn in jaxpr.eqns if eqn.source is not None}
    assert (lines["sin"], lines["cos"]) == ("inner", "outer")


def test_cse_computes_a_value_once() -> None:
    jaxpr = cse_jaxpr(inline_jaxpr(make_jaxpr(nested)(np.float64(1.0), np.float64(2.0))))
    assert sorted(eqn.primitive.name for eqn in jaxpr.eqns) == [
        "add",
        "add",
        "cos",
        "mul",
        "mul",
        "mul",
        "mul",
        "sin",
        "sin",
    ]


def test_cse_tells_zero_from_minus_zero() -> None:
    jaxpr = cse_jaxpr(make_jaxpr(lambda x: (mul(x, 0.0), mul(x, -0.0), mul(x, 0.0)))(np.float64(1.0)))
    assert len(jaxpr.eqns) == 2


def test_cse_and_inline_rewrite_sub_jaxprs() -> None:
    jaxpr = cse_jaxpr(make_jaxpr(lambda x: jit(lambda a: add(sin(a), sin(a)))(x))(np.float64(1.0)))
    (inner,) = jaxprs_in_params(jaxpr.eqns[0].params)
    assert [eqn.primitive.name for eqn in inner.eqns] == ["sin", "add"]


def test_cse_returns_jaxpr_with_nothing_in_common() -> None:
    jaxpr = make_jaxpr(lambda x: sin(cos(x)))(np.float64(1.0))
    assert cse_jaxpr(jaxpr) is jaxpr


def test_inline_deep_nests_without_recursion() -> None:
    function: Callable[..., Any] = sin
    for _ in range(150):
        function = jit(lambda x, f=function: f(f(x)) if f is sin else f(x))
    assert len(inline_jaxpr(make_jaxpr(function)(np.float64(1.0))).eqns) == 2
