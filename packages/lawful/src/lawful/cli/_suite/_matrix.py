"""The matrix of primitives and laws, as an HTML table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from itertools import groupby

from lawful.cli._suite._results import Count, Results, Usage
from lawful.laws import declared_primitives, groups, laws


def matrix(results: Results, anchors: Mapping[tuple[str, str], str]) -> str:
    """Returns a table with a row for each primitive and a column for each law.

    Args:
      results: the run.
      anchors: for a law and a primitive, where the counterexample is to be found.
    """
    columns = sorted(results.setup.laws, key=lambda name: (groups.index(laws[name].group), list(laws).index(name)))
    spans = [(group, len(list(names))) for group, names in groupby(columns, key=lambda name: laws[name].group)]
    tops = "".join(
        f"<th colspan={span} scope=colgroup title='{escape(group, quote=True)}'>{escape(group)}</th>"
        for group, span in spans
    )
    heads = "".join(
        f"<th scope=col data-group='{escape(laws[name].group)}' title='{escape(laws[name].equation, quote=True)}'>"
        f"<span>{escape(name)}</span></th>" for name in columns
    )  # fmt: skip
    rows = "".join(_row(name, results.primitives.get(name, Usage()), columns, anchors) for name in _primitives(results))
    return (
        "<table id=matrix><thead>"
        f"<tr class=groups><td colspan=3></td>{tops}</tr>"
        "<tr><th scope=col>primitive</th><th scope=col class=n>calls</th><th scope=col class=n>programs</th>"
        f"{heads}</tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _primitives(results: Results) -> list[str]:
    wanted = results.setup.primitives
    declared = {p.name for p in declared_primitives() if not wanted or p.name in wanted}
    return sorted(declared | set(results.primitives))


def _row(name: str, usage: Usage, columns: list[str], anchors: Mapping[tuple[str, str], str]) -> str:
    cells = "".join(_cell(name, law, usage.laws.get(law, Count()), anchors.get((law, name))) for law in columns)
    reached = usage.calls + usage.programs
    fails = any((law, name) in anchors for law in columns)
    state = "fails" if fails else "holds" if reached else "unreached"
    return (
        f"<tr data-name='{escape(name, quote=True)}' data-state={state}><th scope=row>{escape(name)}</th>"
        f"<td class=n data-value={usage.calls}>{_short(usage.calls)}</td>"
        f"<td class=n data-value={usage.programs}>{_short(usage.programs)}</td>{cells}</tr>"
    )


def _cell(primitive: str, law: str, count: Count, anchor: str | None) -> str:
    told = f"{primitive} × {law}: {count.passed} passed, {count.failed} failed, {count.inapplicable} inapplicable"
    title = f"title='{escape(told, quote=True)}'"
    if anchor is not None:
        return f"<td class=bad data-value=-1 {title}><a href='#{anchor}'>✗</a></td>"
    if count.passed:
        level = min(4, 1 + int(math.log10(count.passed) * 1.5))
        # A program's failure belongs to one of its primitives; the others are marked as near.
        near = " near" if count.failed else ""
        return f"<td class='l{level}{near}' data-value={count.passed} {title}>{_short(count.passed)}</td>"
    if count.failed:
        return f"<td class=near data-value=-0.5 {title}>!</td>"
    if count.inapplicable:
        return f"<td class=no data-value=0 {title}>–</td>"
    return f"<td data-value=0 {title}></td>"


def _short(number: int) -> str:
    if not number:
        return ""
    for scale, letter in ((10**6, "M"), (10**3, "k")):
        if number >= scale:
            return f"{number / scale:.1f}{letter}" if number < 10 * scale else f"{number // scale}{letter}"
    return str(number)
