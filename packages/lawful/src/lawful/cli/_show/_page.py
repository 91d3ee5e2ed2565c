"""``lawful show --html``: one page with all stages, which needs no other file and no network."""

from __future__ import annotations

import json
import linecache
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

from lawful.cli._html import part, theme
from lawful.cli._show._history import FOUND, MADE, OWN, UNKNOWN, Stage, dead, history
from lawful.cli._show._jaxpr_html import StageMarkup, sizes, text_of
from lawful.cli._show._provenance import Origin, recording, with_origins
from lawful.cli._show._stages import LOWERED, Function, Program, Shown, Types, lowered, stages
from lawful.cli._show._types import text_of_types
from lawful.cli._usage import UsageError
from lawful.core import SourceLine

_PACKAGE: Final = "lawful.cli._show"
_TITLES: Final = {"numpy": "NumPy", "stablehlo": "StableHLO"}
_DEAD: Final = "dead: no result depends on it"
_WITHOUT_LINE: Final = "a constant of the program, or left to NumPy's broadcasting"
#: In the place of an origin.
_RELATIONS: Final = {MADE: -1, UNKNOWN: -2, OWN: -3}


class Tab:
    """A program for a backend, or the reason why there is none.

    Args:
      backend: ``"numpy"`` or ``"stablehlo"``.
      program: what is lowered.
      name: of the user's function.
    """

    def __init__(self, backend: str, program: Program, name: str) -> None:
        self.backend = backend
        self.program = program
        self.shown: Shown | None = None
        self.error = ""
        try:
            self.shown = lowered(backend, program, name)
        except UsageError as error:
            self.error = str(error)

    @cached_property
    def numbers(self) -> list[int | None] | None:
        """The equation of each line; None where the backend does not tell."""
        assert self.shown is not None
        lines = self.shown.text.split("\n")
        ask = getattr(self.shown.lowered, "line_sources", None)
        if ask is None:
            return None
        sources = ask()[: len(lines)]
        return [source.number if isinstance(source, Origin) else None for source in sources]


def show_page(
    function: Function, types: Types, names: Sequence[str], argnums: Sequence[int], axis_size: int,
    each: Callable[[Shown], None],
) -> str:  # fmt: skip
    """Returns the page of a function and its stages.

    Args:
      function: the program.
      types: the types of its arguments.
      names: the stages; see `stages`. The tabs are of the last program, and of those that a stage lowers.
      argnums: what gradients are by.
      axis_size: the size of the axis that `vmap` adds.
      each: called with each stage as soon as there is one.

    Raises:
      UsageError: as `stages` does, but for programs that cannot be lowered: the tab says why.
    """
    name = getattr(function, "__name__", type(function).__name__)
    found: list[Shown] = []
    wanted: list[tuple[str, Program]] = []
    jaxprs = [one for one in names if one not in LOWERED]
    with recording():
        for shown in stages(function, types, jaxprs, argnums, axis_size, with_origins):
            found.append(shown)
            each(shown)
        start = len(found) - len(jaxprs) - 1  # before it are the passes of a function of `jit`
        program, rest = found[start].program, iter(found[start + 1 :])
        for one in names:
            if one in LOWERED:
                wanted.append((one, program))
            else:
                program = next(rest).program
        wanted += [(one, program) for one in LOWERED if (one, program) not in wanted]
        tabs = [Tab(one, each_program, name) for one, each_program in wanted]
    return page(history(found, function), tabs, name, types)


def page(found: Sequence[Stage], tabs: Sequence[Tab], name: str, types: Types) -> str:
    """Returns the page of stages and of programs for backends."""
    markups = [StageMarkup(stage) for stage in found]
    tables = _Tables()
    stage_of = {id(stage.shown.program): stage.number for stage in found}
    data = {
        "stages": [_stage_data(stage, markup, markups, tables) for stage, markup in zip(found, markups, strict=True)],
        "tabs": [_tab_data(tab, found[stage_of[id(tab.program)]], tables) for tab in tabs],
        "strings": tables.strings,
        "lines": tables.lines,
        "parents": tables.groups,
    }
    return Template(part(_PACKAGE, "show.html")).substitute(
        style=theme("theme.css") + part(_PACKAGE, "show.css"),
        script=theme("theme.js") + part(_PACKAGE, "show.js"),
        title=escape(f"lawful show · {found[-1].shown.title}"),
        name=escape(name),
        arguments=escape(text_of_types(types)),
        chips="".join(f"<a href='#s{s.number}'>{escape(s.shown.title)}</a>" for s in found),
        stages="".join(_section(stage, markup) for stage, markup in zip(found, markups, strict=True)),
        tabs=_tabs(tabs, found, stage_of),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    )


class _Tables:
    """Strings, lines of the user, and the equations around others: each once."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.lines: list[tuple[str, int, str, str]] = []
        self.groups: list[Sequence[int]] = []
        self._groups: dict[tuple[int, ...], int] = {(): -1}
        self._strings: dict[str, int] = {}
        self._lines: dict[tuple[str, int, str, str], int] = {}

    def string(self, text: str) -> int:
        if text not in self._strings:
            self._strings[text] = len(self.strings)
            self.strings.append(text)
        return self._strings[text]

    def parents(self, numbers: Sequence[int]) -> int:
        key = tuple(numbers)
        if key not in self._groups:
            self._groups[key] = len(self.groups)
            self.groups.append(key)
        return self._groups[key]

    def line(self, source: SourceLine | None) -> int:
        if source is None:
            return -1
        text = linecache.getline(source.file, source.line).strip()
        key = (_short(source.file), source.line, source.function, text)
        if key not in self._lines:
            self._lines[key] = len(self.lines)
            self.lines.append(key)
        return self._lines[key]


def _short(file: str) -> str:
    """Returns a path, relative to the working directory where it is inside of it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else file


def _stage_data(stage: Stage, markup: StageMarkup, markups: Sequence[StageMarkup], tables: _Tables) -> dict[str, Any]:
    defined = [-1] * len(markup.variables)
    for number, equation in enumerate(stage.equations):
        for var in equation.eqn.outvars:
            defined[markup.number(equation.jaxpr, var)] = number
    jaxpr = stage.closed.jaxpr
    inputs = {}
    for i, var in enumerate(jaxpr.invars):
        text, same = stage.inputs[i]
        earlier = -1
        if same is not None and stage.before is not None:
            given = stage.before.closed.jaxpr
            earlier = markups[stage.before.number].number(given, given.invars[same])
        inputs[markup.number(jaxpr, var)] = [tables.string(text), earlier]
    for var in jaxpr.constvars:
        inputs[markup.number(jaxpr, var)] = [tables.string("a constant that the program closes over"), -1]
    return {
        "title": stage.shown.title,
        "pass": stage.shown.is_pass,
        "from": [_RELATIONS[e.relation] if e.origin is None else e.origin for e in stage.equations],
        "rules": [tables.string(", then ".join(e.rules)) for e in stage.equations],
        "line": [tables.line(e.line) for e in stage.equations],
        "type": [tables.string(str(var.aval)) for _, var in markup.variables],
        "def": defined,
        "in": [tables.parents(stage.around.get(id(e.jaxpr), ())) for e in stage.equations],
        "inputs": inputs,
        "gone": {
            removed.number: [
                tables.string(removed.reason),
                -1 if (instead := markup.instead(removed)) is None else instead,
            ]
            for removed in stage.removed
        },
    }


def _tab_data(tab: Tab, stage: Stage, tables: _Tables) -> dict[str, Any]:
    if tab.shown is None:
        return {"title": _TITLES[tab.backend], "stage": stage.number, "known": False, "gone": {}}
    numbers = tab.numbers
    gone = {}
    if numbers is not None and tab.backend == "numpy":
        has_line = set(numbers)
        linked = stage.shown.program.linked
        removed = set() if linked is None else dead(linked)
        for number in stage.members.get(id(stage.closed.jaxpr), ()):
            if number not in has_line:
                gone[number] = tables.string(_DEAD if number in removed else _WITHOUT_LINE)
    return {"title": _TITLES[tab.backend], "stage": stage.number, "known": numbers is not None, "gone": gone}


def _section(stage: Stage, markup: StageMarkup) -> str:
    removed = f", {len(stage.removed)} removed" if stage.removed else ""
    return (
        f"<section class=stage id=s{stage.number}><h2>{escape(stage.shown.title)}</h2>"
        f"<p class=size>{sizes(stage)}{removed}{_summary(stage)}</p><pre class=code>{markup.html()}</pre></section>"
    )


def _summary(stage: Stage) -> str:
    """Returns how many equations came from none, and of how many nobody knows."""
    counts = {relation: sum(e.relation == relation for e in stage.equations) for relation in (FOUND, MADE, UNKNOWN)}
    made = f", {counts[MADE]} made by the stage itself" if counts[MADE] else ""
    return made + (f", {counts[UNKNOWN]} of unknown origin" if counts[UNKNOWN] else "")


def _tabs(tabs: Sequence[Tab], found: Sequence[Stage], stage_of: dict[int, int]) -> str:
    buttons, panels = [], []
    last = found[-1].number
    for i, tab in enumerate(tabs):
        number = stage_of[id(tab.program)]
        title = _TITLES[tab.backend] + ("" if number == last else f" of {found[number].shown.title}")
        buttons.append(
            f"<button type=button role=tab id=t{i} aria-controls=p{i} aria-selected=false tabindex=-1>"
            f"{escape(title)}</button>"
        )
        panels.append(f"<div role=tabpanel id=p{i} aria-labelledby=t{i}><h3>{escape(title)}</h3>{_panel(tab)}</div>")
    return f"<div role=tablist aria-label='programs for backends'>{''.join(buttons)}</div>{''.join(panels)}"


def _panel(tab: Tab) -> str:
    if tab.shown is None:
        return f"<pre class='code none'>{escape(tab.error)}</pre>"
    lines = tab.shown.text.split("\n")
    numbers = tab.numbers
    note = (
        "" if numbers is not None else "<p class=size>This backend does not tell which line is of which equation.</p>"
    )
    return f"{note}<pre class=code>{text_of(lines, numbers or [None] * len(lines))}</pre>"
