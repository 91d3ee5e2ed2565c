"""The HTML report of a run: one self-contained file, readable without a network."""

from __future__ import annotations

from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Final

from lawful.cli._html import part, theme
from lawful.cli._suite._chart import throughput_chart
from lawful.cli._suite._display import verdict
from lawful.cli._suite._matrix import matrix
from lawful.cli._suite._results import Counterexample, Results
from lawful.cli._usage import counted
from lawful.laws import Failure, laws

_PACKAGE: Final = "lawful.cli._suite"
_STATES: Final = {"small": "made small", "as found": "as it was found"}


def write_report(results: Results, path: Path) -> None:
    """Writes the report of a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report(results), encoding="utf-8")


def report(results: Results) -> str:
    """Returns the report of a run as HTML."""
    found = list(results.distinct())
    anchors = {id(c): f"counterexample-{number}" for number, c in enumerate(found, start=1)}
    setup = results.setup
    return Template(part(_PACKAGE, "report.html")).substitute(
        style=theme("theme.css") + part(_PACKAGE, "report.css"),
        script=theme("theme.js") + part(_PACKAGE, "report.js"),
        title=escape(f"lawful laws · {setup.system}"),
        state="fails" if found or results.problems else "holds" if results.programs + results.calls else "nothing",
        verdict=escape(verdict(results)),
        facts=_facts(results),
        tiles=_tiles(results, len(found)),
        chart=throughput_chart(results.samples),
        counterexamples=_counterexamples(found, anchors) or "<p class='none'>No law has failed.</p>",
        saved=_saved_failures(results),
        groups="".join(f"<option>{escape(group)}</option>" for group in _groups(results)),
        matrix=matrix(results, {(c.failure.law, name): anchors[id(c)] for c in reversed(found) for name in _names(c)}),
    )


def _names(found: Counterexample) -> tuple[str, ...]:
    """Returns the primitives that a counterexample blames: all of its primitives, if they are few."""
    return found.failure.primitives or (found.failure.source.removesuffix(", smooth"),)


def _groups(results: Results) -> list[str]:
    return list(dict.fromkeys(laws[name].group for name in results.setup.laws))


def _facts(results: Results) -> str:
    setup = results.setup
    facts = {
        "system": setup.system,
        "profile": results.profile,
        "effort": setup.effort,
        "seed": str(results.seed),
        "workers": str(results.jobs),
        "backends": ", ".join(setup.backends or ("its own" if setup.system != "lawful" else "numpy",)),
        "lawful": version("lawful"),
    }
    if setup.primitives:
        facts["only primitives"] = ", ".join(setup.primitives)
    if setup.modules:
        facts["imports"] = ", ".join(setup.modules)
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())


def _tiles(results: Results, found: int) -> str:
    reached = sum(1 for usage in results.primitives.values() if usage.calls + usage.programs)
    held = len(results.held_laws())
    tiles = [
        (f"{held}<small> of {len(results.setup.laws)}</small>", "laws hold"),
        (f"{found}", "counterexamples"),
        (f"{results.programs:,}", f"programs, {results.rate():.1f} a second"),
        (f"{results.calls:,}", "calls of primitives"),
        (f"{results.checks('passed'):,}", "checks passed"),
        (f"{reached}", "primitives reached"),
    ]
    return "".join(
        f"<li{' class=bad' if label == 'counterexamples' and found else ''}><b>{number}</b>{escape(label)}</li>"
        for number, label in tiles
    )


def _counterexamples(found: list[Counterexample], anchors: dict[int, str]) -> str:
    return "".join(_counterexample(c, anchors[id(c)], opened=number < 1) for number, c in enumerate(found))


def _counterexample(found: Counterexample, anchor: str, *, opened: bool) -> str:
    failure = found.failure
    facts = [f"from {failure.source}", _STATES.get(found.state, found.state)]
    if failure.equations:
        facts.insert(1, counted(failure.equations, "equation"))
    if found.times > 1:
        facts.append(f"{found.times} times")
    if found.known:
        facts.append("known from an earlier run")
    equation = laws[failure.law].equation if failure.law in laws else "the process goes on"
    found_text = failure.explanation.removeprefix(f"law_{failure.law} does not hold: {equation}\n")
    blocks = [("What was found", found_text), ("The program", failure.program), ("Its jaxpr", failure.jaxpr)]
    return (
        f"<details id='{anchor}' class='counterexample'{' open' if opened else ''}>"
        f"<summary><code>{escape(failure.law)}</code><span>{escape(' · '.join(facts))}</span></summary>"
        f"<p class='equation'>{escape(equation)}</p><div class='blocks'>"
        + "".join(
            f"<section class='{name.split()[-1]}'><h3>{name}</h3><pre>{escape(text)}</pre></section>"
            for name, text in blocks
            if text
        )
        + f"</div><p class='replay'>{escape(_replay(failure))}</p></details>"
    )


def _replay(failure: Failure) -> str:
    seed = f", seed {failure.seed}" if failure.seed is not None else ""
    versions = ", ".join(f"{name} {number}" for name, number in failure.versions.items())
    return f"Its name in the database: {failure.identity}; effort {failure.effort}{seed}; {versions}."


def _saved_failures(results: Results) -> str:
    items = [f"{f.law} of {f.source} failed in an earlier run and holds now." for f in results.fixed]
    items += [f"{f.law} of {f.source} failed in an earlier run and could not be tried: {r}" for f, r in results.untried]
    items += [f"Not a saved failure: {text}" for text in results.unreadable]
    items += [f"The run itself went wrong: {text}" for text in results.problems]
    if not items:
        return ""
    return f"<ul class='saved'>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
