"""The laws of control flow, edges, costs, errors, threads and leaks have mutants that they must reject."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff._fast import forward
from lawful.autodiff._fast.jvp import FastJVPTrace
from lawful.autodiff._jvp import JVPTrace
from lawful.control_flow import cond_p
from lawful.core import ArgumentTypeError, Primitive, SourceLine, current
from lawful.laws import Case, Drawn, LawViolation, examine, laws
from lawful.laws.systems import Lawful, lawful
from lawful.staging import clear_caches

pytestmark = pytest.mark.once

Rule = Callable[..., Any]
Mutate = Callable[[Primitive, str, Rule], None]

array = np.array([0.5, 1.0, -0.75])


def product(x: Any) -> Any:
    return ops.mul(ops.sin(x), x)


plain = Case.of(product, array)


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Mutate:
    """``mutate(primitive, slot, rule)`` puts a wrong rule into a slot, and forgets what was compiled before."""
    clear_caches()
    return lambda primitive, slot, rule: monkeypatch.setitem(primitive.rules, slot, rule)


def rejects(name: str, case: Case, text: str, system: Lawful = lawful) -> None:
    for seed in range(20):
        outcome = examine(laws[name], system, Drawn(Case.of(case.on(system), *case.args, seed=seed), "", ()))
        if isinstance(outcome.error, LawViolation) and text in str(outcome.error):
            return
    pytest.fail(f"law_{name} accepts the mutant")


@pytest.mark.parametrize(
    "name",
    [
        *("chain_rule", "cond_is_branch", "batched_cond_is_choice", "special_values", "empty_batches"),
        *("cheap_gradient", "bounded_residuals", "linear_tracing", "errors_name_their_place"),
        *("threads_agree", "nothing_survives"),
    ],
)
def test_laws_hold_without_a_mutant(name: str) -> None:
    laws[name](lawful, plain)


def test_chain_rule_rejects_context_dependence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant's derivative depends on the function that follows."""
    right = Lawful.jvp

    def wrong(self: Lawful, function: Rule, primals: Any, tangents: Any) -> Any:
        out, tangent = right(self, function, primals, tangents)
        return out, [t + 1.0 for t in tangent] if function.__name__ == "composed" else tangent

    monkeypatch.setattr(Lawful, "jvp", wrong)
    rejects("chain_rule", plain, "jvp(g ∘ f, x, v)")


def test_cond_rejects_the_other_branch(mutate: Mutate) -> None:
    right = cond_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any, *, branches: Any, **params: Any) -> Any:
        return right(primals, tangents, branches=branches[::-1], **params)

    mutate(cond_p, "jvp", wrong)
    rejects("cond_is_branch", plain, "jvp")


def test_cond_rejects_an_index_that_is_not_clamped(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(index: Any, branches: Any, *args: Any) -> Any:
        return branches[int(index) % len(branches)](*args)

    system = Lawful()
    monkeypatch.setattr(system, "scope", {**system.scope, "switch": wrong}, raising=False)
    rejects("cond_is_branch", plain, "switch(", system)


def test_a_batched_cond_rejects_one_branch_for_all(mutate: Mutate) -> None:
    right = cond_p.rules["batch"]

    def wrong(args: Any, dims: Any, **params: Any) -> Any:
        index, *operands = args
        first = index[0] if dims[0] is not None else index
        return right([first, *operands], [None, *dims[1:]], **params)

    mutate(cond_p, "batch", wrong)
    rejects("batched_cond_is_choice", plain, "vmap(cond)(p, f, g, x)")


def test_special_values_rejects_nan_as_number(mutate: Mutate) -> None:
    """The mutant replaces NaN by a number."""
    mutate(ops.sin_p, "numpy", lambda avals, compile: lambda x: np.nan_to_num(np.sin(x)))
    rejects("special_values", Case.of(lambda x: ops.sin(x), array), "jit(f)(x)")


def test_empty_batches_reject_a_rule_that_drops_the_axis(mutate: Mutate) -> None:
    right = ops.sin_p.rules["batch"]

    def wrong(args: Any, dims: Any) -> Any:
        out, dim = right(args, dims)
        return (out, dim) if np.size(out) else (np.zeros((0,)), 0)

    mutate(ops.sin_p, "batch", wrong)
    rejects("empty_batches", Case.of(ops.sin, array), "vmap(f)(x) is")


def test_cheap_gradient_rejects_repeated_work(mutate: Mutate) -> None:
    """The mutant's jvp rule adds a hundred needless equations."""
    right = ops.sin_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any) -> Any:
        for _ in range(100):
            primals = [ops.add(primals[0], 0.0)]
        return right(primals, tangents)

    mutate(ops.sin_p, "jvp", wrong)
    rejects("cheap_gradient", plain, "the gradient has")


def test_bounded_residuals_reject_a_rule_that_keeps_too_much(mutate: Mutate) -> None:
    def wrong(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        whole = ops.broadcast_in_dim(ops.cos(x), (40, *x.shape), tuple(range(1, x.ndim + 1)))
        wide = ops.broadcast_in_dim(t, whole.shape, tuple(range(1, x.ndim + 1)))
        return ops.sin(x), ops.div(ops.reduce_sum(ops.mul(whole, wide), (0,)), 40.0)

    mutate(ops.sin_p, "jvp", wrong)
    rejects("bounded_residuals", plain, "the derivative keeps")


def test_linear_tracing_rejects_quadratic_work(mutate: Mutate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of the mutant's rule, which runs in each call, grows with the number of earlier calls."""
    right = ops.sin_p.rules["abstract_eval"]
    seen: list[Any] = []

    def wrong(x: Any) -> Any:
        seen.append(x)
        for aval in seen:
            repr(aval)
        return right(x)

    mutate(ops.sin_p, "abstract_eval", wrong)
    monkeypatch.setattr(ops.sin_p, "pure_rules", False)
    rejects("linear_tracing", plain, "calls of Python functions")


def test_errors_reject_a_message_without_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Lawful.jvp

    def wrong(self: Lawful, function: Rule, primals: Any, tangents: Any) -> Any:
        try:
            return right(self, function, primals, tangents)
        except ArgumentTypeError as error:
            raise ArgumentTypeError(error.message.replace("primals", "some argument")) from None

    monkeypatch.setattr(Lawful, "jvp", wrong)
    rejects("errors_name_their_place", plain, "the error does not say `primals")


def test_errors_reject_another_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.tree.base import errors

    elsewhere = SourceLine(test_errors_reject_another_line.__code__, 0)
    monkeypatch.setattr(errors, "user_source", lambda: elsewhere)
    rejects("errors_name_their_place", plain, "does not begin with the line")


def test_errors_reject_an_error_that_is_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Lawful.grad

    def wrong(self: Lawful, function: Rule, argnums: Any = 0) -> Rule:
        def gradient(*args: Any) -> Any:
            try:
                return right(self, function, argnums)(*args)
            except Exception as error:
                if type(error).__module__.startswith("lawful.core"):
                    raise
                return None

        return gradient

    monkeypatch.setattr(Lawful, "grad", wrong)
    rejects("errors_name_their_place", plain, "swallows an error")


def test_errors_reject_a_trace_that_stays_current(monkeypatch: pytest.MonkeyPatch) -> None:
    right, before = Lawful.jit, current.trace

    def wrong(self: Lawful, function: Rule, backend: str | None = None) -> Rule:
        def compiled(*args: Any) -> Any:
            def kept(*inner: Any) -> Any:
                traces.append(current.trace)
                return function(*inner)

            traces: list[Any] = []
            try:
                return right(self, kept, backend)(*args)
            except Exception:
                current.trace = traces[-1] if traces else current.trace
                raise

        return compiled

    monkeypatch.setattr(Lawful, "jit", wrong)
    try:
        rejects("errors_name_their_place", plain, "a trace is still current")
    finally:
        current.trace = before


def test_threads_reject_state_that_they_share(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Lawful.jvp

    def wrong(self: Lawful, function: Rule, primals: Any, tangents: Any) -> Any:
        out, tangent = right(self, function, primals, tangents)
        return (out, tangent) if threading.current_thread() is threading.main_thread() else (out, tangent * 0.0)

    monkeypatch.setattr(Lawful, "jvp", wrong)
    rejects("threads_agree", plain, "threads")


def test_leaks_reject_a_cache_that_holds_jaxprs(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Lawful.vjp
    kept: list[Any] = []

    def wrong(self: Lawful, function: Rule, *primals: Any) -> Any:
        out, pull = right(self, function, *primals)
        kept.append(pull)
        return out, pull

    monkeypatch.setattr(Lawful, "vjp", wrong)
    rejects("nothing_survives", plain, "leaves {")


def test_leaks_reject_a_tracer_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    for cls in (JVPTrace, FastJVPTrace):

        def wrong(self: JVPTrace, primal: Any, tangent: Any, right: Any = cls.new_tracer) -> Any:
            kept.append(right(self, primal, tangent))
            return kept[-1]

        monkeypatch.setattr(cls, "new_tracer", wrong)

    def wrong_dual(*args: Any, right: Any = forward.dual) -> Any:  # of the argument, where there is one
        kept.append(right(*args))
        return kept[-1]

    monkeypatch.setattr(forward, "dual", wrong_dual)
    rejects("nothing_survives", plain, "tracers")
