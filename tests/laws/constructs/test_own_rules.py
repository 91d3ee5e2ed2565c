"""Functions with rules of their own obey every law, and a law finds a rule that is wrong."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import control_flow, ops, tree
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import associative_scan, cond, fori_loop, reduce, scan, switch, while_loop
from lawful.control_flow._loops import residuals
from lawful.core import get_aval
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp
from lawful.laws import (
    Program,
    check,
    holds,
    law_commutation,
    law_linearize_is_jvp,
    law_vjp_transpose,
    programs,
    quick,
    usual,
    usual_dtypes,
)
from lawful.laws.systems import (
    Lawful,
    lawful,
    with_callback,
    with_jvp_rule,
    with_linear_call,
    with_linear_solve,
    with_root,
    with_slope_rule,
    with_vjp_rule,
    with_vmap_rule,
)
from lawful.staging import clear_caches, jit, partial_eval_jaxpr
from tests.laws._held import hold_all, names, of_functions, parts, share

Function = Callable[..., Any]

with_rules = ("with_jvp_rule", "with_vjp_rule", "with_vmap_rule")


@share(12)
@given(programs(forms=(*with_rules, "jit", "vmap", "cond", "checkpoint"), max_equations=5))
def test_custom_rules_programs_with_rules_obey_every_law(program: Program) -> None:
    hold_all(program)


@share(12)
@given(programs(forms=(*with_rules, "jvp", "vjp", "grad", "linearize"), dtypes=usual_dtypes, smooth=False))
def test_custom_rules_rules_within_derivatives_obey_every_law(program: Program) -> None:
    hold_all(program)


@share(12)
@given(programs(forms=(*with_rules, "scan", "while_loop", "fori_loop", "map"), max_equations=4))
def test_custom_rules_rules_around_loops_obey_every_law(program: Program) -> None:
    hold_all(program)


@share(12)
@given(programs(forms=("with_slope_rule", "grad", "jvp", "linearize", "vmap", "jit", "scan"), max_equations=5))
def test_custom_jvp_loops_along_known_directions_obey_laws(program: Program) -> None:
    hold_all(program)


@share(1)
@given(programs(forms=("with_slope_rule",), max_equations=5, nesting=34))
def test_custom_jvp_loops_along_known_directions_in_reverse(program: Program) -> None:
    """Most equations of these programs are such loops."""
    holds(law_linearize_is_jvp, lawful, program, effort=quick)
    holds(law_vjp_transpose, lawful, program, effort=quick)


@pytest.mark.parametrize("loop", ["fori_loop", "scan", "while_loop", "cond"])
def test_with_slope_rule_is_the_loop_it_differentiates(loop: str) -> None:
    power = with_slope_rule(lambda y, x: y * x, loop, 3)
    np.testing.assert_allclose(power(XS), XS**3)
    for wrap in (lambda f: f, lambda f: jit(f, backend="numpy")):
        np.testing.assert_allclose(wrap(grad(lambda x: ops.reduce_sum(power(x), (0,))))(XS), 3 * np.square(XS))
    check(power, XS, effort=quick, laws=names, raise_on_failure=True)


@share(8)
@given(programs(forms=with_rules, max_equations=4), st.permutations(("jit", "vmap", "vjp")))
def test_custom_rules_programs_commute_with_xla(program: Program, stack: list[str]) -> None:
    holds(law_commutation, Lawful("xla"), program, stack=stack, effort=quick)


@pytest.mark.parametrize("ruled", [with_jvp_rule, with_vjp_rule, with_vmap_rule])
def test_custom_rules_nests_obey_laws_of_their_transformations(ruled: Function) -> None:
    """A function that has its rules in each other, compiled, mapped, chosen and differentiated."""
    inner = ruled(parts)

    def nest(x: Any, y: Any) -> Any:
        closing = ruled(lambda z: ops.cos(z) * x)
        compiled = jit(lambda a: inner(a, closing(a))["a"], backend="numpy")(y)
        total = ops.reduce_sum(x * y, tuple(range(get_aval(x * y).ndim)))
        chosen = cond(total > 0.2, lambda: inner(x, y)["a"], lambda: checkpoint(closing)(y))
        return ruled(lambda a: vmap(closing)(a[None])[0] * compiled)(x) + chosen

    check(nest, np.float64(0.3), np.float64(1.2), effort=quick, laws=names, raise_on_failure=True)


@pytest.mark.parametrize("ruled", [with_jvp_rule, with_vjp_rule])
@pytest.mark.parametrize("split", [False, True])
def test_custom_rules_loop_invariant_results_obey_laws(
    ruled: Function, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first result has a derivative by its rule alone. A law finds a loop that splits the call."""
    pair = ruled(lambda a, y: (ops.sin(a), ops.mul(a, y)))

    def power(a: Any) -> Any:
        return scan(lambda y, _: (ops.mul(*pair(a, y)), None), ops.full_like(a, 1.0), None, length=2)[0]

    laws = ["linearize_is_jvp", "vjp_transpose", "second_order"]
    if not split:
        check(power, np.float64(0.3), effort=quick, laws=laws, raise_on_failure=True)
        return
    clear_caches()
    monkeypatch.setattr(residuals, "partial_eval_jaxpr", partial(partial_eval_jaxpr_of_once, partial_eval_jaxpr))
    try:
        report = check(power, np.float64(0.3), effort=quick, laws=laws)
    finally:
        clear_caches()
    assert not report.ok
    assert "second_order" in str(report)


def partial_eval_jaxpr_of_once(right: Function, *args: Any, repeated: bool) -> Any:
    return right(*args)


def body(c: Any, x: Any) -> Any:
    """The body of a scan."""
    return ops.sin(c) * x, c + x


def doubled(state: Any) -> Any:
    """The body of a loop with a counter."""
    i, x = state
    return i + 1, x * x + 0.1


XS = np.array([0.3, -0.5, 0.7])
CONSTRUCTS: dict[str, tuple[Function, Any]] = {
    "scan": (lambda x: scan(body, 0.5, x), XS),
    "scan from checkpoints": (lambda x: scan(body, 0.5, x, checkpoints=2), XS),
    "scan of length 0": (lambda x: scan(lambda c, _: (c * x, c), x, None, 0, checkpoints=1), np.float64(0.3)),
    "scan backwards": (lambda x: scan(lambda c, _: body(c, x), 0.5, None, 4, reverse=True, checkpoints=1), XS[0]),
    "fori_loop": (lambda x: fori_loop(0, 3, lambda i, y: y * x + i, x, checkpoints=2), XS),
    "while_loop": (lambda x: while_loop(lambda s: s[0] < 3, doubled, (0, x), checkpoints=2)[1], XS),
    "while_loop with a bound": (lambda x: while_loop(lambda s: s[0] < 3, doubled, (0, x), max_iters=4)[1], XS),
    "while_loop on its values": (lambda x: while_loop(lambda y: y < 9.0, lambda y: y + x * x + 1.0, x), XS[0]),
    "batched while": (lambda x: vmap(lambda y: while_loop(lambda s: s[0] < y, doubled, (0.0, y))[1])(x), XS),
    "map": (lambda x: control_flow.map(ops.sin, x), XS),
    "associative_scan": (lambda x: associative_scan(ops.mul, x), XS),
    "cond": (lambda x: cond(x[0] > 0.0, lambda: x * x, lambda: -x), XS),
    "switch": (lambda x: switch(1, [ops.sin, lambda y: y * x, ops.cos], x), XS),
    "reduce": (lambda x: reduce(x, 1.0, lambda a, b: a * b, (0,)), XS),
    "checkpoint": (lambda x: checkpoint(lambda y: ops.sin(y) * x)(x), XS),
    "linear solve": (with_linear_solve(lambda x: x * x), XS),
    "root": (with_root(lambda x: x * x), XS),
    "linear call": (with_linear_call(lambda x: x * x), XS),
    "callback": (with_callback(ops.sin, "expand_dims"), XS),
}


FORWARD = ("jvp_finite_differences", "vjp_transpose", "linearize_is_jvp", "vmap_is_loop", "typing")


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_custom_rules_pullback_gives_forward_mode(name: str) -> None:
    """The transpose of a construct is checked to be linear, and transposed again."""
    function, x = CONSTRUCTS[name]
    check(with_vjp_rule(function), x, effort=quick, laws=FORWARD, raise_on_failure=True)
    out, dot = jvp(with_vjp_rule(function), (x,), (x,))
    expected = jvp(function, (x,), (x,))
    for got, wanted in zip(tree.leaves((out, dot)), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, wanted, 1e-12)


# Rules written by hand, which are not what would be derived.


@custom_jvp
def log1pexp(x: Any) -> Any:
    return ops.log(1.0 + ops.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (x_dot,) = primals, tangents
    return log1pexp(x), x_dot / (1.0 + ops.exp(-x))


@custom_vjp
def softmax(x: Any) -> Any:
    weights = ops.exp(x - ops.reduce_max(x, (0,)))
    return weights / ops.reduce_sum(weights, (0,))


def softmax_fwd(x: Any) -> Any:
    out = softmax(x)
    return out, out


def softmax_bwd(out: Any, ct: Any) -> Any:
    return (out * (ct - ops.reduce_sum(out * ct, (0,))),)


softmax.defvjp(softmax_fwd, softmax_bwd)


@custom_rule
def divide(a: Any, b: Any) -> Any:
    return b / a


@divide.def_transpose(linear_argnums=1)
def divide_transpose(ct: Any, a: Any, b: Any) -> Any:
    return None, divide(a, ct)


@divide.def_batch
def divide_batch(axis_size: int, in_batched: list[bool], a: Any, b: Any) -> Any:
    ndim = max(np.ndim(x) - mark for x, mark in zip((a, b), in_batched, strict=True))
    a, b = (
        ops.reshape(x, (axis_size, *(1,) * (ndim + 1 - len(x.shape)), *x.shape[1:])) if mark else x
        for x, mark in zip((a, b), in_batched, strict=True)
    )
    return b / a, any(in_batched)


EXAMPLES: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "log1pexp": (lambda x: jit(log1pexp, backend="numpy")(x) * x, (np.array([0.5, -2.0]),)),
    "softmax": (softmax, (np.array([0.5, -1.0, 2.0]),)),
    "divide": (lambda a, b: divide(a, ops.sin(b)), (np.float64(2.0), np.float64(3.0))),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_custom_rules_rules_by_hand_obey_every_law(name: str) -> None:
    function, args = EXAMPLES[name]
    check(function, *args, effort=quick, laws=names, raise_on_failure=True)


def wrong_jvp(primals: Any, tangents: Any) -> Any:
    return ops.sin(*primals), 0.9 * ops.cos(*primals) * tangents[0]


def test_custom_rules_wrong_rule_of_forward_mode_is_found() -> None:
    sine = custom_jvp(ops.sin)
    sine.defjvp(wrong_jvp)
    report = check(sine, np.array([0.5]), effort=quick, laws=["jvp_finite_differences"])
    assert {failure.law for failure in report.failures} >= {"jvp_finite_differences"}


def test_custom_rules_wrong_rule_of_reverse_mode_is_found() -> None:
    sine = custom_vjp(ops.sin)
    sine.defvjp(lambda x: (ops.sin(x), x), lambda x, ct: (0.9 * ops.cos(x) * ct,))
    report = check(sine, np.array([0.5]), effort=quick, laws=["jvp_finite_differences"])
    assert {failure.law for failure in report.failures} >= {"jvp_finite_differences"}


def test_custom_rules_rules_that_contradict_each_other_are_found() -> None:
    sine = custom_rule(ops.sin)
    sine.def_jvp(lambda primals, tangents: (sine(*primals), ops.cos(*primals) * tangents[0]))
    sine.def_vjp(lambda x: (ops.sin(x), x), lambda x, ct: (0.9 * ops.cos(x) * ct,))
    report = check(sine, np.array([0.5]), effort=quick, laws=["linearize_is_jvp", "vjp_transpose"])
    assert {failure.law for failure in report.failures} >= {"linearize_is_jvp", "vjp_transpose"}


def test_custom_rules_wrong_batching_rule_is_found() -> None:
    sine = custom_rule(ops.sin)
    sine.def_batch(lambda axis_size, in_batched, x: (ops.sin(x) + 0.1, True))
    report = check(sine, np.array([0.5]), effort=quick, laws=["vmap_is_loop"])
    assert {failure.law for failure in report.failures} >= {"vmap_is_loop"}


def test_custom_rules_rule_not_linear_in_its_tangent_is_found() -> None:
    sine = custom_jvp(ops.sin)
    sine.defjvp(lambda primals, tangents: (sine(*primals), ops.cos(*primals) * tangents[0] ** 2))
    report = check(sine, np.array([0.5]), effort=usual, laws=["jvp_linear"])
    assert {failure.law for failure in report.failures} == {"jvp_linear"}


def test_custom_jvp_surrogate_gradient_fails_differences() -> None:
    """Only the laws that compare with them find it."""
    straight_through = custom_jvp(lambda x: ops.floor(x))
    straight_through.defjvp(lambda primals, tangents: (straight_through(*primals), tangents[0]))
    every = [law.name for law in of_functions]
    report = check(lambda x: straight_through(x) * x, np.array([0.5, 1.5]), effort=quick, laws=every)
    assert {failure.law for failure in report.failures} == {"jvp_finite_differences", "second_order"}
    assert float(grad(lambda x: straight_through(x) * x)(1.5)) == 2.5
