"""The laws of loops have mutants that they must reject."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import scan_p, while_p
from lawful.core import Zero, get_aval
from lawful.laws import Case, Drawn, LawViolation, examine, laws
from lawful.laws.systems import Lawful, lawful
from lawful.staging import clear_caches

pytestmark = pytest.mark.once

Rule = Callable[..., Any]

array = np.array([0.5, 1.0, -0.75])
plain = Case.of(lambda x: ops.mul(ops.sin(x), x), array)


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``mutate(primitive, slot, wrong)`` puts a wrong rule, made of the right one, into a slot."""
    clear_caches()
    return lambda primitive, slot, wrong: monkeypatch.setitem(primitive.rules, slot, wrong(primitive.rules[slot]))


def rejects(name: str, text: str, system: Lawful = lawful) -> None:
    for seed in range(20):
        outcome = examine(laws[name], system, Drawn(Case.of(plain.on(system), *plain.args, seed=seed), "", ()))
        if isinstance(outcome.error, LawViolation) and text in str(outcome.error):
            return
    pytest.fail(f"law_{name} accepts the mutant")


@pytest.mark.parametrize(
    "name",
    [
        "scan_is_loop",
        "while_is_loop",
        "batched_while_is_choice",
        "map_is_stack",
        "associative_scan_is_loop",
    ],
)
def test_loop_laws_hold_without_a_mutant(name: str) -> None:
    laws[name](lawful, plain)


def test_scan_rejects_a_compiled_loop_in_the_other_direction(mutate: Any) -> None:
    mutate(scan_p, "numpy", lambda right: lambda *args, reverse, **loop: right(*args, reverse=not reverse, **loop))
    rejects("scan_is_loop", "jit(scan(")


def test_scan_rejects_a_transpose_in_the_same_direction(mutate: Any) -> None:
    mutate(scan_p, "transpose", lambda right: lambda *args, reverse, **loop: right(*args, reverse=not reverse, **loop))
    rejects("scan_is_loop", "vjp(scan(")


def test_scan_is_loop_rejects_lost_empty_results() -> None:
    """The mutant loses the stacked results of a scan of length zero."""

    def wrong(f: Rule, init: Any, xs: Any, *args: Any, **options: Any) -> Any:
        carry, ys = right(f, init, xs, *args, **options)
        return carry, ys if len(xs) else None

    system = Lawful()
    right = system.scope["scan"]
    system.scope = {**system.scope, "scan": wrong}
    rejects("scan_is_loop", "results of no slices", system)


def test_scan_rejects_a_range_that_is_too_short() -> None:
    system = Lawful()
    right = system.scope["fori_loop"]
    system.scope = {**system.scope, "fori_loop": lambda lower, upper, *args: right(lower, upper - 1, *args)}
    rejects("scan_is_loop", "fori_loop(0, 3)", system)
    rejects("while_is_loop", "fori_loop(0", system)


def test_while_rejects_a_transpose_that_forgets_constants(mutate: Any) -> None:
    def wrong(right: Rule) -> Rule:
        def transpose(cts: Any, *args: Any, cond_nconsts: int, body_nconsts: int, **params: Any) -> Any:
            found = right(cts, *args, cond_nconsts=cond_nconsts, body_nconsts=body_nconsts, **params)
            return [
                Zero(get_aval(ct))
                if i < cond_nconsts + body_nconsts and ct is not None and type(ct) is not Zero
                else ct
                for i, ct in enumerate(found)
            ]

        return transpose

    mutate(while_p, "transpose", wrong)
    rejects("while_is_loop", "vjp(while_loop")


def test_while_rejects_derivative_of_the_last_iteration_only(mutate: Any) -> None:
    def wrong(right: Rule) -> Rule:
        def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
            out, dots = right(primals, tangents, **params)
            return out, [t if type(t) is Zero else ops.mul(t, 0.5) for t in dots]

        return jvp

    mutate(while_p, "jvp", wrong)
    rejects("while_is_loop", "jvp(while_loop")


def test_a_batched_while_rejects_one_predicate_for_all(mutate: Any) -> None:
    def wrong(right: Rule) -> Rule:
        def batch(args: Any, dims: Any, *, cond_nconsts: int, **params: Any) -> Any:
            firsts = [x if dim is None else np.take(x, 0, dim) for x, dim in zip(args, dims, strict=True)][
                :cond_nconsts
            ]
            return right(
                [*firsts, *args[cond_nconsts:]], [*[None] * cond_nconsts, *dims[cond_nconsts:]],
                cond_nconsts=cond_nconsts, **params,
            )  # fmt: skip

        return batch

    mutate(while_p, "batch", wrong)
    rejects("batched_while_is_choice", "vmap(while_loop)")


def test_map_rejects_a_rest_that_is_lost() -> None:
    def wrong(f: Rule, xs: Any, *, batch_size: int | None = None) -> Any:
        end = None if batch_size is None else len(xs[0]) // batch_size * batch_size
        return right(f, [x[:end] for x in xs], batch_size=batch_size)

    system = Lawful()
    right = system.scope["map"]
    system.scope = {**system.scope, "map": wrong}
    rejects("map_is_stack", "map(f, xs, batch_size=", system)


def test_associative_scan_rejects_operands_in_the_other_order() -> None:
    def wrong(f: Rule, *args: Any) -> Any:
        return right(lambda a, b: f(b, a), *args)

    system = Lawful()
    right = system.scope["associative_scan"]
    system.scope = {**system.scope, "associative_scan": wrong}
    rejects("associative_scan_is_loop", "associative_scan(composition", system)
