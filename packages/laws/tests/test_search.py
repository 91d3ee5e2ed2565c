"""Failures are found by seeds, made small by Hypothesis, and found again from their choices."""

import gc
from typing import Any

import pytest

from lawful import ops
from lawful.laws import (
    Case,
    Inapplicable,
    LawViolation,
    Outcome,
    Program,
    check_groups,
    draw_case,
    examine,
    examine_all,
    find_source,
    laws,
    program_sources,
    replay_case,
    shrink,
    sources_for,
)
from lawful.laws.systems import Lawful, lawful

differences = laws["jvp_finite_differences"]


def _wrong_sine(primals: Any, tangents: Any) -> Any:
    return ops.sin_p.bind(*primals), ops.mul(tangents[0], ops.sin(primals[0]))


@pytest.fixture
def wrong_sine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ops.sin_p.rules, "jvp", _wrong_sine)


def first_failure(source: str, least: int = 0) -> Outcome:
    """Returns the first failure on a case of at least so many equations."""
    for outcomes in examine_all(lawful, find_source(source), range(300), [differences]):
        for outcome in outcomes:
            size = outcome.drawn.case.equation_count if isinstance(outcome.drawn.case, Program) else 1
            if outcome.verdict == "failed" and size >= least:
                return outcome
    pytest.fail("no seed finds the fault")


@pytest.mark.parametrize("ending", ["", ", smooth", ", special"])
@pytest.mark.parametrize("name", ["hessenberg", "tridiagonal"])
def test_examine_laws_of_absent_rules_do_not_apply(name: str, ending: str) -> None:
    source = find_source(f"{name}{ending}")
    outcomes = [outcome for each in examine_all(lawful, source, range(3), [*laws.values()]) for outcome in each]
    verdicts = {
        verdict: {o.law.name for o in outcomes if o.verdict == verdict}
        for verdict in ("passed", "inapplicable", "failed")
    }
    assert verdicts["passed"]
    assert "linearize_is_jvp" in verdicts["inapplicable"]
    assert not verdicts["failed"]


def test_sources_for_a_backend_without_numpys_meshes() -> None:
    assert program_sources["sharded"] in sources_for(lawful)
    assert program_sources["sharded"] not in sources_for(Lawful("xla", ("xla",)))
    assert program_sources["sharded"] not in sources_for(Lawful(backends=("numpy", "xla")))


@pytest.mark.parametrize("name", program_sources)
def test_replay_case_gives_the_case_again(name: str) -> None:
    source = find_source(name)
    for seed in range(30):
        drawn = draw_case(source, seed)
        again = replay_case(source, drawn.choices)
        assert isinstance(drawn.case, Program)
        assert isinstance(again.case, Program)
        assert again.case.source() == drawn.case.source()
        assert again.case.seed == drawn.case.seed


def test_replay_case_of_choices_that_do_not_fit() -> None:
    source = find_source("smooth")
    choices = draw_case(source, 1).choices
    for cut in (choices[:5], (*choices[:3], 10**9, *choices[4:]), ()):
        assert isinstance(replay_case(source, cut).case, Program)


def test_replay_case_of_a_primitive_call() -> None:
    source = find_source("sin, smooth")
    drawn = draw_case(source, 3)
    assert repr(replay_case(source, drawn.choices).case) == repr(drawn.case)


@pytest.mark.usefixtures("wrong_sine")
def test_shrink_failure() -> None:
    smallest = shrink(lawful, first_failure("smooth", least=6))
    assert isinstance(smallest.error, LawViolation)
    assert isinstance(smallest.drawn.case, Program)
    assert smallest.drawn.case.equation_count <= 2
    again = replay_case(find_source("smooth"), smallest.drawn.choices)
    assert examine(differences, lawful, again).verdict == "failed"


@pytest.mark.usefixtures("wrong_sine")
def test_shrink_primitive_call() -> None:
    smallest = shrink(lawful, first_failure("sin, smooth"))
    assert repr(smallest.drawn.case) == "ops.sin_p.bind(np.array(0.49))"


def test_shrink_failure_of_a_rule_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(primals: Any, tangents: Any) -> Any:
        raise ZeroDivisionError("of the rule")

    monkeypatch.setitem(ops.sin_p.rules, "jvp", broken)
    smallest = shrink(lawful, first_failure("smooth"))
    assert type(smallest.error) is ZeroDivisionError


def test_shrink_of_what_no_longer_fails() -> None:
    drawn = draw_case(find_source("smooth"), 0)
    gone = Outcome(differences, "failed", drawn, LawViolation("law: once it did not hold"))
    assert shrink(lawful, gone) is gone


def test_examine_inapplicable_law() -> None:
    drawn = draw_case(find_source("not"), 0)
    outcome = examine(differences, lawful, drawn)
    assert outcome.verdict == "inapplicable"
    assert isinstance(outcome.error, Inapplicable)


def test_examine_all_pauses_the_garbage_collector(wrong_sine: None) -> None:
    """The garbage collector is off while laws are checked, and on between them."""
    seen = []

    def observed(*args: Any, **kwargs: Any) -> Any:
        seen.append(gc.isenabled())
        return _wrong_sine(*args, **kwargs)

    ops.sin_p.rules["jvp"] = observed
    for outcomes in examine_all(lawful, find_source("sin, smooth"), range(30), [differences]):
        assert gc.isenabled()
        if seen and any(outcome.verdict == "failed" for outcome in outcomes):
            break
    assert seen
    assert not any(seen)
    failing = Case.of(ops.sin, 0.3)
    with pytest.raises(LawViolation):
        check_groups(lawful, failing, ["second order"])
    assert gc.isenabled()
