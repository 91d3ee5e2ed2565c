"""Errors and recorded equations name the line inside a user's rule, then the line of the call."""

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import cost, grad, hessian, jacfwd, jvp, peak_memory, saved_residuals
from lawful.batching import vmap
from lawful.core import ShapeMismatchError, plain
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp, custom_vmap
from lawful.staging import jit, make_jaxpr

X = np.ones(3)
MODES: list[Callable[[], AbstractContextManager[Any]]] = [nullcontext, plain]


def tanh_sum(x: Any) -> Any:
    return ops.reduce_sum(ops.tanh(x), axes=(0,))


def fwd(x: Any) -> Any:
    t = ops.tanh(x)  # saved
    return ops.reduce_sum(t, axes=(0,)), t


def bwd(t: Any, ct: Any) -> Any:
    return (ops.mul(ct, ops.sub(1.0, ops.mul(t, t))),)  # pulled back


def tanh_rule(primals: Any, tangents: Any) -> Any:
    t = ops.tanh(primals[0])
    slope = ops.sub(1.0, ops.mul(t, t))  # saved by jvp
    return t, ops.mul(tangents[0], slope)


by_vjp = custom_vjp(tanh_sum)
by_vjp.defvjp(fwd, bwd)
tanh = custom_jvp(ops.tanh)
tanh.defjvp(tanh_rule)


def caller(x: Any) -> Any:
    return by_vjp(ops.mul(x, 2.0))  # call


def jvp_caller(x: Any) -> Any:
    return ops.reduce_sum(tanh(ops.mul(x, 2.0)), axes=(0,))  # jvp call


def line(text: str) -> int:
    with open(__file__) as file:
        [number] = [number for number, line in enumerate(file, 1) if line.rstrip().endswith(f"  # {text}")]
    return number


def at(text: str, function: str, *callers: tuple[str, str]) -> str:
    """Returns the words for a line of this file, by the comment at its end, and for the calls around it."""
    rest = [f", in a rule for the call at {at(*each)}" for each in callers]
    return f"{__file__}:{line(text)} ({function}){''.join(rest)}"


CALLS = [
    (caller, f"tanh at {at('saved', 'fwd', ('call', 'caller'))}"),
    (jvp_caller, f"sub at {at('saved by jvp', 'tanh_rule', ('jvp call', 'jvp_caller'))}"),
]


@pytest.mark.parametrize(("function", "place"), CALLS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("staged", [lambda f: f, jit])
def test_saved_residuals_name_the_line_in_a_rule(function: Any, place: str, mode: Any, staged: Any) -> None:
    with mode():
        assert [origin for _, origin in saved_residuals(staged(function), X)] == [f"output of {place}"]


@pytest.mark.parametrize(("function", "place"), CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_peak_memory_names_the_line_in_a_rule(function: Any, place: str, mode: Any) -> None:
    with mode():
        [residual] = [value for value in peak_memory(function)(X).residuals if value.kind == "residual"]
    assert residual.origin == f"output of {place}"


@pytest.mark.parametrize("mode", MODES)
def test_cost_of_a_gradient_has_the_lines_of_rules(mode: Any) -> None:
    with mode():
        costs = cost(caller)(X)
    lines = {(each.source.line, each.source.function): each.equations for each in costs.gradient.lines}  # type: ignore[union-attr]
    assert lines[line("saved"), "fwd"] == 1
    assert lines[line("pulled back"), "bwd"] == 3
    assert lines[line("call"), "caller"] == 2


def wrong(x: Any) -> Any:
    return ops.dot(x, np.ones(7))  # wrong


def rules(**given: Any) -> Any:
    """Returns a function that calls one with other rules at the line marked with other call."""
    function = custom_vjp(tanh_sum)
    function.defvjp(given.get("fwd", fwd), given.get("bwd", bwd))

    def calls(x: Any) -> Any:
        return function(ops.mul(x, 2.0))  # other call

    return calls


def jvp_rule(rule: Any) -> Any:
    function = custom_jvp(tanh_sum)
    function.defjvp(rule)

    def calls(x: Any) -> Any:
        return function(ops.mul(x, 2.0))  # third call

    return calls


OTHER, THIRD = ("other call", "calls"), ("third call", "calls")
FAILING: list[tuple[Any, tuple[str, str]]] = [
    (lambda: grad(rules(fwd=wrong))(X), OTHER),
    (lambda: grad(rules(bwd=lambda t, ct: (wrong(t),)))(X), OTHER),
    (lambda: jit(grad(rules(bwd=lambda t, ct: (wrong(t),))))(X), OTHER),
    (lambda: grad(jit(rules(bwd=lambda t, ct: (wrong(t),))))(X), OTHER),
    (lambda: vmap(grad(rules(fwd=wrong)))(np.ones((2, 3))), OTHER),
    (lambda: jvp(rules(bwd=lambda t, ct: (wrong(t),)), (X,), (X,)), OTHER),
    (lambda: jvp(jvp_rule(lambda p, t: wrong(p[0])), (X,), (X,)), THIRD),
    (lambda: jit(grad(jvp_rule(lambda p, t: wrong(p[0]))))(X), THIRD),
    (lambda: hessian(jvp_rule(lambda p, t: wrong(p[0])))(X), THIRD),
]


@pytest.mark.parametrize(("failing", "call"), FAILING)
@pytest.mark.parametrize("mode", MODES)
def test_error_in_a_rule_names_its_line_first(failing: Any, call: tuple[str, str], mode: Any) -> None:
    with mode(), pytest.raises(ShapeMismatchError) as caught:
        failing()
    assert str(caught.value).startswith(f"{at('wrong', 'wrong', call)}: dot: expected")
    source = caught.value.source
    assert source is not None
    assert source.caller is not None
    assert (source.line, source.caller.line) == (line("wrong"), line(call[0]))


@pytest.mark.parametrize("transformed", [lambda f: f, vmap, jit, lambda f: vmap(jit(f))])
@pytest.mark.parametrize("decorator", ["jvp", "vjp", "vmap"])
def test_error_in_a_function_with_rules_names_its_line(transformed: Any, decorator: str) -> None:
    """No rule is running, so there is no call besides."""
    function: Any = {"jvp": custom_jvp, "vjp": custom_vjp, "vmap": custom_rule}[decorator](wrong)
    if decorator == "jvp":
        function.defjvp(tanh_rule)
    if decorator == "vjp":
        function.defvjp(fwd, bwd)
    with pytest.raises(ShapeMismatchError) as caught:
        transformed(function)(X if transformed(wrong) is wrong else np.ones((3, 3)))
    assert str(caught.value).startswith(f"{at('wrong', 'wrong')}: dot: expected")


def test_error_in_a_batching_rule_names_its_line() -> None:
    function = custom_vmap(tanh_sum)
    function.def_vmap(lambda size, batched, x: (wrong(x), True))
    with pytest.raises(ShapeMismatchError) as caught:
        vmap(lambda x: function(ops.mul(x, 2.0)))(np.ones((2, 3)))
    assert str(caught.value).startswith(f"{at('wrong', 'wrong')}, in a rule for the call at {__file__}")


def test_error_in_a_rule_that_a_rule_calls_names_all_calls() -> None:
    inner = rules(fwd=wrong)

    def outer_rule(primals: Any, tangents: Any) -> Any:
        return jvp(inner, primals, tangents)

    with pytest.raises(ShapeMismatchError) as caught:
        jacfwd(jvp_rule(outer_rule))(X)
    place = f"{at('wrong', 'wrong', OTHER)}, in a rule for the call at {at(*THIRD)}: dot"
    assert str(caught.value).startswith(place)


def test_rule_of_lawful_has_the_line_of_the_call() -> None:
    def calls(x: Any) -> Any:
        return ops.tanh(x)

    eqns = make_jaxpr(lambda x, t: jvp(calls, (x,), (t,)))(1.0, 1.0).eqns
    assert len(eqns) > 2
    assert {(eqn.source.function, eqn.source.caller) for eqn in eqns if eqn.source is not None} == {("calls", None)}


def test_lines_in_a_rule_are_the_same_each_time() -> None:
    """Jaxprs that are traced again are deduplicated by their lines."""
    first, second = [[eqn.source for eqn in make_jaxpr(grad(caller))(X).eqns] for _ in range(2)]
    assert any([source is not None and source.caller is not None for source in first])
    assert [*map(id, first)] == [*map(id, second)]


@pytest.mark.parametrize("mode", MODES)
def test_rule_keeps_no_frame_alive(mode: Any) -> None:
    """The line of a running rule knows its frame, which no tracer, equation or error may hold after it."""
    tokens: list[weakref.ref[Any]] = []
    leaked: list[Any] = []

    class Token:
        pass

    def leaking(x: Any) -> Any:
        leaked.append(x)
        return tanh_sum(x)

    def rule(primals: Any, tangents: Any) -> Any:
        token = Token()
        tokens.append(weakref.ref(token))
        return jvp(leaking, primals, tangents)

    with mode():
        jvp(jvp_rule(rule), (X,), (X,))
        program = make_jaxpr(grad(jvp_rule(rule)))(X)
    assert tokens
    assert leaked
    for token in tokens:
        assert token() is None
    sources = [x.source for x in leaked] + [eqn.source for eqn in program.eqns]
    assert not [source for source in sources if hasattr(source, "frame")]
