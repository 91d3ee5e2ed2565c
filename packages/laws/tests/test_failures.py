"""A failure outlives the process that found it: as plain data, and in a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import ops
from lawful.core import Primitive
from lawful.laws import (
    Failure,
    FailureDatabase,
    Program,
    count_primitives,
    draw_case,
    efforts,
    examine,
    examine_again,
    failure_of,
    find_source,
    laws,
    primitives_of,
)
from lawful.laws.systems import lawful
from lawful.staging import make_jaxpr

differences = laws["jvp_finite_differences"]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Failure:
    def wrong(primals: Any, tangents: Any) -> Any:
        return ops.sin_p.bind(*primals), ops.mul(tangents[0], ops.sin(primals[0]))

    monkeypatch.setitem(ops.sin_p.rules, "jvp", wrong)
    for seed in range(20):
        outcome = examine(differences, lawful, draw_case(find_source("sin, smooth"), seed), efforts["quick"])
        if outcome.verdict == "failed":
            return failure_of(lawful, outcome, efforts["quick"])
    pytest.fail("no seed finds the fault")


def test_a_failure_says_all_that_is_needed(found: Failure) -> None:
    assert found.program.startswith("ops.sin_p.bind(")
    assert "= sin a" in found.jaxpr
    assert (found.primitives, found.equations, found.error) == (("sin",), 1, "LawViolation")
    assert found.explanation.startswith("law_jvp_finite_differences does not hold")
    assert found.program not in found.explanation
    assert found.versions["numpy"]


def test_a_failure_of_a_rule_has_the_lines_of_the_rule_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(primals: Any, tangents: Any) -> Any:
        raise ZeroDivisionError("of the rule")

    monkeypatch.setitem(ops.sin_p.rules, "jvp", broken)
    outcome = examine(laws["jvp_linear"], lawful, draw_case(find_source("sin, smooth"), 1))
    explanation = failure_of(lawful, outcome, efforts["usual"]).explanation
    assert "in broken" in explanation
    assert explanation.endswith("ZeroDivisionError: of the rule")
    assert "lawful/laws/" not in explanation


def test_failure_folder_gives_back_what_was_saved(found: Failure, tmp_path: Path) -> None:
    database = FailureDatabase(tmp_path / "failures")
    assert list(database) == []
    path = database.save(found)
    assert database.save(found) == path
    assert list(database) == [found]
    assert [p.name for p in path.parent.iterdir()] == [f"{found.identity}.json"]
    database.remove(found)
    database.remove(found)
    assert list(database) == []


def test_examine_again_before_and_after_the_fix(
    found: Failure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored failure fails again, and passes once the rule is right."""
    database = FailureDatabase(tmp_path)
    database.save(found)
    (again,) = database
    assert examine_again(lawful, again).verdict == "failed"
    monkeypatch.undo()
    assert examine_again(lawful, again).verdict == "passed"


def test_failure_what_cannot_be_read_is_told_and_rest_is_given(found: Failure, tmp_path: Path) -> None:
    database = FailureDatabase(tmp_path)
    path = database.save(found)
    newer = json.loads(path.read_text()) | {"a field of a later version": 1}
    path.write_text(json.dumps(newer))
    (tmp_path / "cut.json").write_text('{"law":')
    (tmp_path / "other.json").write_text('{"law": "typing"}')
    assert list(database) == [found]
    assert {p.name for p in database.unreadable} == {"cut.json", "other.json"}


def test_failure_primitive_that_is_gone_is_a_key_error(found: Failure) -> None:
    primitive = Primitive("short_lived")
    name = primitive.name
    del primitive
    with pytest.raises(KeyError):
        examine_again(lawful, Failure(system="lawful", law=found.law, source=name, effort="quick", choices=()))


def test_failure_what_occurs_in_a_case() -> None:
    program = draw_case(find_source("smooth"), 3).case
    assert isinstance(program, Program)
    assert 0 < len(primitives_of(program)) <= sum(count_primitives(make_jaxpr(program)(*program.args).jaxpr).values())
    assert primitives_of(draw_case(find_source("floor"), 3).case) == ("floor",)
