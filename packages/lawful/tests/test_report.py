"""The HTML report: one file that needs nothing else, and works in a browser."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lawful.cli._suite._chart import throughput_chart
from lawful.cli._suite._report import report
from lawful.cli._suite._results import Results, Sample
from lawful.cli._suite._tasks import Examined, Setup
from lawful.laws import Failure, laws

CHOSEN = ("jit_is_eager", "jvp_linear", "vjp_transpose")

FAILURE = Failure(
    system="lawful", law="jvp_linear", source="sin, smooth", effort="quick", choices=(0, 0, 7), seed=3,
    error="LawViolation", explanation="at result: <1.0> is not 2.0 & more", program="ops.sin_p.bind(np.array(0.49))",
    jaxpr="{ lambda ; a:f64[]. let b:f64[] = sin a in (b,) }", primitives=("sin",), equations=1, small=True,
    versions={"python": "3.12"},
)  # fmt: skip


@pytest.fixture
def results() -> Results:
    found = Results(Setup("lawful", (), "quick", CHOSEN), "quick", seed=5, jobs=2, budget=2.0)
    verdicts = tuple((name, "passed") for name in CHOSEN)
    for _ in range(40):
        found.count(Examined("program", ("add", "mul"), verdicts))  # type: ignore[arg-type]
    found.count(Examined("call", ("sin",), (("jit_is_eager", "passed"), ("jvp_linear", "failed"))))
    found.count(Examined("call", ("floor",), (("vjp_transpose", "inapplicable"),)))
    counterexample = found.fail(FAILURE)
    assert counterexample is not None
    counterexample.state = "small"
    for seconds in range(1, 30):
        found.programs = 10 * seconds
        found.sample(float(seconds))
    return found


class Links(HTMLParser):
    """All that a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]


def test_the_report_is_one_file(results: Results) -> None:
    page = report(results)
    links = Links()
    links.feed(page)
    assert all(link.startswith("#") or link == "data:," for link in links.found)
    assert "http" not in page
    assert "@import" not in page
    assert not re.search(r"\$\w", page), "a placeholder is left"


def test_report_what_was_found_is_text_and_not_markup(results: Results) -> None:
    page = report(results)
    assert "&lt;1.0&gt; is not 2.0 &amp; more" in page
    assert "<1.0>" not in page


def test_a_run_that_drew_nothing_has_a_report_too() -> None:
    page = report(Results(Setup("lawful", (), "quick", CHOSEN), "quick", seed=5, jobs=2))
    assert "nothing was drawn" in page
    assert "too short for a chart" in page


def test_report_process_that_died_is_reported(results: Results) -> None:
    results.fail(replace(FAILURE, law="process", program="", jaxpr="", primitives=(), error="Died"))
    assert "the process goes on" in report(results)


def test_report_chart_has_both_lines() -> None:
    chart = throughput_chart([Sample(float(i), 7 * i, 3 * i) for i in range(1, 200)])
    assert chart.count("<polyline") == 2
    assert "nan" not in chart


def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium is installed: apt-get install chromium")


def in_browser(page: Path, fragment: str, folder: Path, *options: str) -> str:
    """Returns the page as the browser has it once the script has run."""
    done = subprocess.run(
        [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder / 'profile'}", *options, f"{page.as_uri()}{fragment}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def page(results: Results, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(report(results), encoding="utf-8")
    return path


def shown_rows(dom: str) -> list[str]:
    return [name for name, rest in re.findall(r'<tr data-name="([^"]*)"([^>]*)>', dom) if "hidden" not in rest]


def test_report_matrix_in_a_browser(page: Path, tmp_path: Path) -> None:
    dom = in_browser(page, "", tmp_path, "--dump-dom")
    rows = shown_rows(dom)
    assert {"add", "floor", "mul", "sin"} <= set(rows)
    assert f"{len(rows)} primitives × 3 laws" in dom
    assert rows == sorted(rows)


def test_report_address_filters_and_sorts_the_matrix(page: Path, tmp_path: Path) -> None:
    dom = in_browser(page, "#filter=sin&state=fails&group=tangents", tmp_path, "--dump-dom")
    assert shown_rows(dom) == ["sin"]
    assert "1 primitives × 1 laws" in dom
    dom = in_browser(page, "#state=holds&sort=2", tmp_path, "--dump-dom")
    assert set(shown_rows(dom)[:2]) == {"add", "mul"}
    assert 'aria-sort="descending"' in dom


def test_report_word_that_no_primitive_has_finds_laws(page: Path, tmp_path: Path) -> None:
    assert "primitives × 1 laws" in in_browser(page, "#filter=vjp_tr", tmp_path, "--dump-dom")


def test_a_picture_of_the_report_is_not_empty(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    in_browser(page, "", tmp_path, f"--screenshot={picture}", "--window-size=1300,1500")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 40_000  # a blank page is a few thousand


def test_report_every_law_has_a_column() -> None:
    everything = Results(Setup("lawful", (), "quick", tuple(laws)), "quick", seed=5, jobs=2)
    page = report(everything)
    assert all(f"<span>{name}</span>" in page for name in laws)
