"""The law of re-rolling has mutants that it must reject."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow._reroll import body as reroll_body
from lawful.control_flow._reroll import labels as reroll_labels
from lawful.control_flow._reroll import loop as reroll_loop
from lawful.control_flow._reroll import runs as reroll_runs
from lawful.control_flow._reroll import table as reroll_table
from lawful.control_flow._reroll import writer as reroll_writer
from lawful.laws import Case, Drawn, examine, laws
from lawful.laws._staging import rerolling
from lawful.laws.systems import lawful
from lawful.staging import clear_caches

pytestmark = pytest.mark.once

Rule = Callable[..., Any]

array = np.array([0.5, 1.0, -0.75])
powers = Case.of(lambda x: ops.integer_pow(ops.integer_pow(x, 2), 3), np.float64(0.9))
plain = Case.of(lambda x, y: (ops.mul(ops.sin(x), ops.mul(x, y)), ops.mul(y, ops.cos(y))), array, np.float64(0.5))


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``mutate(owner, name, wrong)`` puts a wrong function, made of the right one, into its place."""

    def planted(owner: Any, name: str, wrong: Callable[[Rule], Rule]) -> None:
        clear_caches()
        monkeypatch.setattr(owner, name, wrong(getattr(owner, name)))

    return planted


def rejects(text: str = "", case: Case = plain) -> None:
    for seed in range(20):
        clear_caches()
        outcome = examine(laws["rerolling"], lawful, Drawn(Case.of(case.function, *case.args, seed=seed), "", ()))
        if outcome.verdict == "failed" and text in str(outcome.error):
            return
    pytest.fail("law_rerolling accepts the mutant")


def test_rerolling_holds_without_a_mutant() -> None:
    for seed in range(5):
        laws["rerolling"](lawful, plain, seed=seed)
        laws["rerolling"](lawful, powers, seed=seed)


def test_rerolling_rejects_literals_that_are_taken_for_one(mutate: Any) -> None:
    mutate(reroll_table, "literal_key", lambda right: lambda literal: literal.aval)
    rejects("a loop over literals, rolled")


def test_rerolling_rejects_parameters_that_are_ignored(mutate: Any) -> None:
    mutate(reroll_labels._Labels, "_key", lambda right: lambda self, value: type(value))
    rejects(case=powers)


def test_rerolling_rejects_operands_that_nobody_looks_at(mutate: Any) -> None:
    mutate(reroll_runs, "_first_irregular", lambda right: lambda table, run: run.trip_count)
    rejects()


def test_rerolling_rejects_a_stack_in_the_wrong_order(mutate: Any) -> None:
    mutate(
        reroll_loop,
        "stack_rows",
        lambda right: (
            lambda stack, places: right(stack, {var: stack.aval.shape[0] - 1 - at for var, at in places.items()})
        ),
    )
    rejects("rolled")


def test_rerolling_rejects_slices_off_by_one(mutate: Any) -> None:
    mutate(reroll_writer.Writer, "stack", lambda right: lambda self, atoms: right(self, [*atoms[1:], atoms[0]]))
    rejects("rolled")


def test_rerolling_rejects_a_carry_of_two_iterations_before(mutate: Any) -> None:
    """The carry is as it was before, instead of the result of the iteration."""

    def wrong(right: Rule) -> Rule:
        def close(self: Any, stacked: Any, name: str) -> Any:
            closed = right(self, stacked, name)
            outvars = list(closed.jaxpr.outvars)
            invars = [var for register in self.registers.values() for var in register.invars]
            outvars[0] = invars[0] if invars else outvars[0]
            return type(closed)(closed.jaxpr.replace(outvars=outvars))

        return close

    mutate(reroll_body.Body, "close", wrong)
    rejects("rolled")


def test_rerolling_rejects_weak_types_that_are_lost(mutate: Any) -> None:
    mutate(reroll_writer.Writer, "as_weak", lambda right: lambda self, atom, aval: atom)
    rejects("~f64[]")


def test_rerolling_rejects_a_pass_that_does_nothing(mutate: Any) -> None:
    mutate(rerolling, "reroll", lambda right: lambda closed, min_trip_count: closed)
    rejects("is not rolled")


def test_rerolling_rejects_a_pass_that_never_comes_to_an_end(mutate: Any) -> None:
    def wrong(right: Rule) -> Rule:
        def reroll(closed: Any, min_trip_count: int) -> Any:
            rolled = right(closed, min_trip_count=min_trip_count)
            return type(rolled)(rolled.jaxpr.replace(eqns=[*rolled.eqns, *copies(rolled)]), rolled.consts)

        return reroll

    def copies(rolled: Any) -> Any:
        """One equation more each time, of which nobody uses the result."""
        eqn = rolled.eqns[0]
        yield eqn.replace(outvars=[type(var)(var.aval) for var in eqn.outvars])

    mutate(rerolling, "reroll", wrong)
    rejects("reroll is not idempotent")
