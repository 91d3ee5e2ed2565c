"""The display of a run of the laws, on a terminal and elsewhere."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lawful.cli._suite._display import Display, line, progress, summary, verdict
from lawful.cli._suite._results import Results
from lawful.cli._suite._tasks import Examined, Setup
from lawful.laws import Failure

FAILURE = Failure(
    system="lawful", law="jvp_linear", source="sin", effort="quick", choices=(1,), error="LawViolation",
    explanation="it differs", program="ops.sin_p.bind(0.5)", equations=1,
)  # fmt: skip


@pytest.fixture
def results() -> Results:
    found = Results(Setup("lawful", (), "quick", ("jvp_linear", "typing")), "quick", seed=5, jobs=2, budget=100.0)
    for _ in range(80):
        found.count(Examined("program", ("add",), (("jvp_linear", "passed"), ("typing", "passed"))))
    found.seconds = 40.0
    return found


def text(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=100, record=True)
    console.print(renderable)
    return console.export_text()


def test_the_live_display(results: Results) -> None:
    shown = text(progress(results))
    for said in ("0:40 of 1:40", "80", "2.0 a second", "2 of 2 laws passed", "160 checks"):
        assert said in shown
    failed = results.fail(FAILURE)
    assert failed is not None
    failed.state = "shrinking"
    shown = text(progress(results))
    assert "1 of 2 laws passed" in shown
    assert "1 shrinking" in shown
    assert "✗ jvp_linear of sin (1 equation, shrinking)" in shown


def test_display_lines_where_there_is_no_terminal(results: Results) -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=40, record=True)
    with Display(console) as display:
        display(results)
        display(results)
    assert console.export_text() == "lawful laws · lawful · quick · seed 5 · 2 jobs\n"
    assert line(results) == "40 s: 80 programs (2.0/s), 0 calls, 2 of 2 laws passed, 0 failures"


def test_display_number_of_cases_has_no_end_in_time(results: Results) -> None:
    results.budget, results.cases = None, 120
    assert "80 of 120 cases" in text(progress(results))


def test_display_summary_tells_the_smallest_of_each_law_in_full(results: Results) -> None:
    results.fail(replace(FAILURE, source="smooth", equations=4, program="a longer one", explanation="it differs too"))
    results.fail(FAILURE)
    results.fail(FAILURE)
    console = Console(file=io.StringIO(), width=100, record=True)
    summary(results, console)
    shown = console.export_text()
    assert "✗ jvp_linear of sin (1 equation, 2 times, waiting)\n    it differs\n    ops.sin_p.bind(0.5)\n" in shown
    assert "  and jvp_linear of smooth (4 equations, waiting)" in shown
    assert "a longer one" not in shown
    assert shown.rstrip().endswith("1 law of 2 fails, of 80 programs and 0 calls in 40.0 s, seed 5")


def test_display_law_that_said_nothing_does_not_hold(results: Results) -> None:
    assert verdict(results).startswith("all 2 laws hold of 80 programs")
    del results.laws["typing"]
    assert verdict(results).startswith("1 law held and 1 had nothing to say, of 80 programs")
