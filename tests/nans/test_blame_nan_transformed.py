"""`blame_nan` through derivatives, batches, branches, loops and custom rules, eager and compiled."""

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import checkpoint, grad, hessian, jacfwd, jvp, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import cond, custom_root, fori_loop, scan, switch, while_loop
from lawful.core import NonFiniteError, Primitive
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp, custom_vmap
from lawful.debug import Blame, blame_nan, debug_nans
from lawful.staging import jit

Function = Callable[..., Any]
STAGED: list[Function] = [lambda f: f, jit, lambda f: jit(f, backend="numpy"), lambda f: jit(jit(f))]


def blamed(function: Function, *args: Any) -> Blame:
    blame = blame_nan(function)(*args)
    assert blame is not None
    return blame


def line_and_caller(blame: Blame) -> list[str]:
    """Returns the function and the start of the user's line, then of the lines of the calls around it."""
    found, source = [], blame.source
    while source is not None:
        assert source.file == __file__
        text = linecache.getline(source.file, source.line).strip()
        found.append(f"{source.function}: {text.partition('lambda')[0]}")
        source = source.caller
    return found


def loops(blame: Blame) -> list[str]:
    return [part for part in blame.within if not part.startswith("jit of ")]


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_backward_pass(staged: Function) -> None:
    blame = blamed(staged(grad(lambda x: lnp.where(x > 0, lnp.sqrt(x), 0.0))), 0.0)
    assert (blame.kind, blame.primitive) == ("NaN", "mul")
    assert blame.rules == ("jvp rule of sqrt", "transpose rule of mul")
    assert blame.cause is not None
    assert (blame.cause.primitive, blame.cause.rules) == ("div", ("jvp rule of sqrt",))
    assert blame.source is not None
    assert blame.source.file == __file__


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_gradient_beside_a_predicate(staged: Function) -> None:
    """The flag of a step that was not accepted is finite, and so are the value and the gradient beside it."""

    def loss(x: Any) -> Any:
        return x * x, (lnp.log(x) > 0.0, lnp.isnan(lnp.log(x)), lnp.argmax(lnp.stack([x, lnp.log(x)])))

    assert blame_nan(staged(value_and_grad(loss, has_aux=True)))(-1.0) is None
    assert blame_nan(staged(vmap(value_and_grad(loss, has_aux=True))))(np.array([1.0, -1.0])) is None


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_vmap_of_grad(staged: Function) -> None:
    blame = blamed(staged(vmap(grad(lambda x: x * lnp.log(x)))), np.array([1.0, 2.0, 0.0]))
    assert blame.index == (2,)
    assert blame.rules[-1].startswith("batch rule of ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_scan_names_the_iteration(staged: Function) -> None:
    def function(xs: Any) -> Any:
        return scan(lambda c, x: (c + 1.0, lnp.sqrt(c - x)), 0.0, xs)[1]

    blame = blamed(staged(function), np.array([-1.0, 0.0, 5.0, 0.0]))
    assert blame.primitive == "sqrt"
    assert loops(blame)[0].startswith("iteration 2 of 4 of scan at ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_scan_backwards(staged: Function) -> None:
    def function(xs: Any) -> Any:
        return scan(lambda c, x: (lnp.sqrt(c * x), c), 1.0, xs)[0]

    blame = blamed(staged(grad(function)), np.array([1.0, 2.0, 0.0, 3.0]))
    assert loops(blame)[0].startswith("iteration 0 of 4 (slice 3: it runs backwards) of scan at ")
    assert blame.cause is not None
    assert loops(blame.cause)[0].startswith("iteration 2 of 4 of scan at ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_while_loop_names_the_iteration(staged: Function) -> None:
    def function(x: Any) -> Any:
        return while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, lnp.log(c[1] - 1.0)), (0, x))[1]

    assert loops(blamed(staged(function), 20.0))[0].startswith("iteration 2 of while at ")


def test_blame_nan_while_loop_predicate() -> None:
    """A NaN in the predicate reaches no result; it is found where all are."""

    def function(x: Any) -> Any:
        return while_loop(lambda c: lnp.log(2.0 - c) > 0.0, lambda c: c + 1.0, x)

    assert blame_nan(function)(0.5) is None
    blame = blame_nan(function, discarded=True)(2.5)
    assert blame is not None
    assert loops(blame)[0].startswith("the predicate of iteration 0 of while at ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_branches_and_nested_loops(staged: Function) -> None:
    def function(x: Any) -> Any:
        def body(i: Any, c: Any) -> Any:
            return switch(i, [lambda c: c, lambda c: lnp.log(c), lambda c: c * 2.0], c)

        return fori_loop(0, 3, body, x) + cond(x > 0, lambda: 1.0, lambda: 2.0)

    outer, inner = loops(blamed(staged(function), -1.0))
    assert outer.startswith("iteration 1 of ")
    assert inner.startswith("branch 1 of cond at ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_batched_while_ignores_stopped_elements(staged: Function) -> None:
    def function(x: Any) -> Any:
        return while_loop(lambda c: c > 0.5, lambda c: lnp.log(c), x)

    assert blame_nan(staged(vmap(function)))(np.array([0.4, 2.0, 1.5])) is None
    blame = blamed(staged(vmap(lambda x: lnp.sqrt(function(x)))), np.array([0.4, 2.0, 1.2]))
    assert (blame.primitive, blame.index) == ("sqrt", (1,))


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_custom_jvp_rule(staged: Function) -> None:
    @custom_jvp
    def softened(x: Any) -> Any:
        return lnp.sin(x)

    softened.defjvp(lambda primals, tangents: (softened(*primals), tangents[0] * lnp.log(primals[0] - 5.0)))
    assert blame_nan(staged(softened))(1.0) is None
    blame = blamed(staged(grad(softened)), 1.0)
    assert (blame.primitive, blame.rules) == ("log", ("jvp rule of softened",))
    assert line_and_caller(blame) == ["<lambda>: softened.defjvp(", "blamed: blame = blame_nan(function)(*args)"]


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_custom_vjp_rule(staged: Function) -> None:
    @custom_vjp
    def scaled(x: Any) -> Any:
        return lnp.sin(x)

    def backward(x: Any, ct: Any) -> Any:
        slope = lnp.sqrt(x)
        return (ct * slope,)

    scaled.defvjp(lambda x: (scaled(x), x), backward)
    blame = blamed(staged(grad(lambda x: scaled(x) * 2.0)), -1.0)
    assert (blame.primitive, blame.operands) == ("sqrt", (-1.0,))
    assert blame.rules == ("jvp rule of scaled", "transpose rule of scaled_tangents")
    assert line_and_caller(blame) == ["backward: slope = lnp.sqrt(x)", "<lambda>: blame = blamed(staged(grad("]
    assert "\n  in a rule for the call at " in str(blame)
    with debug_nans(), pytest.raises(NonFiniteError, match=r"sqrt at .* \(backward\)\n    slope = lnp\.sqrt\(x\)\n"):
        staged(grad(scaled))(-1.0)


@pytest.mark.parametrize("staged", STAGED)
@pytest.mark.parametrize("forward", [jacfwd, lambda f: lambda x: jvp(f, (x,), (1.0,))[1]])
def test_blame_nan_forward_mode_of_a_custom_vjp(forward: Function, staged: Function) -> None:
    """A compiled call keeps the transpose of the backward rule as a Python function."""

    @custom_vjp
    def scaled(x: Any) -> Any:
        return lnp.sin(x)

    scaled.defvjp(lambda x: (scaled(x), x), lambda x, ct: (ct * lnp.sqrt(x),))
    blame = blamed(staged(forward(scaled)), -1.0)
    assert (blame.primitive, blame.rules[0]) == ("sqrt", "jvp rule of scaled")
    assert line_and_caller(blame)[0] == "<lambda>: scaled.defvjp("


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_rule_that_differentiates(staged: Function) -> None:
    """A rule that calls `grad`: its line is the caller of the line in the rule inside."""

    @custom_vjp
    def inner(x: Any) -> Any:
        return lnp.sin(x)

    @custom_vjp
    def outer(x: Any) -> Any:
        return lnp.cos(x)

    inner.defvjp(lambda x: (inner(x), x), lambda x, ct: (ct * lnp.log(x),))
    outer.defvjp(lambda x: (outer(x), x), lambda x, ct: (ct * grad(inner)(x),))
    blame = blamed(staged(vmap(grad(outer))), np.array([1.0, -1.0]))
    assert (blame.primitive, blame.index) == ("log", (1,))
    first, second, third = line_and_caller(blame)
    assert first == "<lambda>: inner.defvjp("
    assert second == "<lambda>: outer.defvjp("
    assert third.startswith("blamed: ")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_rules_of_transposition_and_batching(staged: Function) -> None:
    doubled = custom_rule(lambda x: x * 2.0)
    doubled.def_transpose(lambda ct, x: (ct * lnp.log(ct - 5.0),))
    assert line_and_caller(blamed(staged(grad(doubled)), 1.0))[0] == "<lambda>: doubled.def_transpose("
    mapped = custom_vmap(lambda x: lnp.sin(x))
    mapped.def_vmap(lambda size, batched, x: (lnp.log(x - 9.0), True))
    blame = blamed(staged(vmap(mapped)), np.ones(2))
    assert (blame.primitive, line_and_caller(blame)[0]) == ("log", "<lambda>: mapped.def_vmap(")


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_rule_of_an_own_primitive(staged: Function) -> None:
    own_p = Primitive("own")
    own_p.def_impl(np.cosh)
    own_p.def_abstract_eval(lambda x: x)
    own_p.def_lowering(lambda ctx, x: x)
    own_p.def_jvp(lambda primals, tangents: (own_p.bind(*primals), lnp.log(-primals[0]) * tangents[0]))
    blame = blamed(staged(grad(lambda x: own_p.bind(x))), 1.0)
    assert (blame.primitive, blame.rules) == ("log", ("jvp rule of own",))
    assert line_and_caller(blame) == ["<lambda>: own_p.def_jvp(", "<lambda>: blame = blamed(staged(grad("]


@pytest.mark.parametrize("staged", STAGED)
@pytest.mark.parametrize("batched", [False, True])
def test_blame_nan_custom_vjp_in_a_reversed_while(batched: bool, staged: Function) -> None:
    """The schedule that reruns the iterations is no loop of the user's: its iterations and branches are not named."""

    @custom_vjp
    def scaled(x: Any) -> Any:
        return lnp.sin(x)

    def loop(x: Any) -> Any:
        return while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, scaled(c[1])), (0, x))[1]

    scaled.defvjp(lambda x: (scaled(x), x), lambda x, ct: (ct * lnp.sqrt(x),))
    derivative = vmap(grad(loop)) if batched else grad(loop)
    blame = blamed(staged(derivative), np.array([1.0, -1.0]) if batched else -1.0)
    (place,) = loops(blame)
    assert place.startswith("reversed_while at ")
    lines = line_and_caller(blame)
    assert lines[:2] == ["<lambda>: scaled.defvjp(", "<lambda>: return while_loop("]


@pytest.mark.parametrize("staged", STAGED)
def test_blame_nan_checkpoint_and_second_derivatives(staged: Function) -> None:
    blame = blamed(staged(hessian(checkpoint(lambda x: lnp.sqrt(x)))), 0.0)
    assert (blame.kind, blame.primitive, blame.rules) == ("infinity", "div", ("jvp rule of sqrt", "jvp rule of sqrt"))
    assert blamed(staged(jacfwd(lambda x: lnp.sqrt(x))), np.zeros(2)).kind in ("NaN", "infinity")


def test_blame_nan_solver() -> None:
    def function(x: Any) -> Any:
        return custom_root(lambda y: y * y - x, 1.0, lambda f, y: lnp.sqrt(x), lambda g, y: y / g(1.0))

    assert blamed(function, -4.0).primitive == "sqrt"


def test_blame_nan_jvp_and_results_in_trees() -> None:
    def function(params: Any) -> Any:
        return jvp(lambda p: {"a": p["x"] + 1.0, "b": lnp.sqrt(p["x"])}, (params,), ({"x": 0.0},))

    blame = blamed(function, {"x": 0.0})
    assert (blame.result_name, blame.primitive) == ("result[1]['b']", "mul")


def logsumexp(x: Any) -> Any:
    largest = lnp.max(x)
    return largest + lnp.log(lnp.sum(lnp.exp(x - largest)))


def log_likelihood(transition: Any, start: Any, emissions: Any) -> Any:
    """The forward algorithm of a hidden Markov model, in log space."""

    def step(alpha: Any, emission: Any) -> Any:
        return vmap(lambda column: logsumexp(alpha + column), in_axes=1)(transition) + emission, None

    alpha, _ = scan(step, start + emissions[0], emissions[1:])
    return logsumexp(alpha)


@pytest.mark.parametrize("staged", STAGED)
@pytest.mark.parametrize("derivative", [lambda f: f, grad, value_and_grad])
def test_blame_nan_hidden_markov_model(staged: Function, derivative: Function) -> None:
    """Nothing leads to the first state, so that all of its terms are -inf: -inf minus their largest is NaN."""
    with np.errstate(divide="ignore"):
        transition = np.log(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))
    args = transition, np.log(np.array([0.5, 0.25, 0.25])), np.zeros((5, 3))
    blame = blamed(staged(derivative(log_likelihood)), *args)
    assert (blame.primitive, blame.index) == ("sub", (0, 0))
    assert blame.source is not None
    assert blame.source.function == "logsumexp"
    assert any(part.startswith("iteration 0 of 4 of scan") for part in blame.within)
    assert blame.cause is not None
    assert blame.cause.given == "the argument transition"
