"""The report of a check: data, and its text as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from lawful.laws._law.law import LawViolation
from lawful.laws._law.tally import Verdict
from lawful.laws._law.values import indented

_WORDS: Final = {"passed": "passed", "failed": "FAILED", "inapplicable": "not applicable"}
_WIDTH: Final = 110


@dataclass(frozen=True, slots=True)
class LawReport:
    """The result of one law.

    Attributes:
      law: the law's name.
      group: the kind of law.
      equation: what it states.
      verdict: whether it holds.
      cases: of how many cases it said something.
      reason: what is wrong, or why it does not apply; empty where it passed.
      counterexample: the smallest case that was found in which it does not hold.
      size: the largest difference there, relative to the larger of both values; None where something else is wrong.
      missing_rule: the call that would define a rule which the law needs and the primitive has not.
      error: what was raised.

    >>> from lawful import ops
    >>> from lawful.laws import check
    >>> found = check(ops.sin, 0.5, laws=["jvp_linear"]).laws[0]
    >>> found.law, found.group, found.verdict
    ('jvp_linear', 'tangents', 'passed')
    """

    law: str
    group: str
    equation: str
    verdict: Verdict
    cases: int
    reason: str = ""
    counterexample: str = ""
    size: float | None = None
    missing_rule: str | None = None
    error: Exception | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A group of arguments, or a backend, that the function was not tried with, and the reason.

    >>> Refused("complex", "no complex numbers").kind
    'complex'
    """

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all laws for a function or primitive; ``str`` of it is a table.

    Attributes:
      subject: what was checked.
      system: the system that it runs on.
      effort: how hard was tried.
      laws: what each law says, in the order of the groups.
      tried: the kinds of arguments, with how many cases of each.
      refused: what the function was not tried with, because it itself refuses that.

    >>> from lawful import ops
    >>> from lawful.laws import check
    >>> report = check(ops.sin, 0.5, laws=["jvp_linear"])
    >>> report.ok, report.system, len(report.laws)
    (True, 'lawful', 1)
    """

    subject: str
    system: str
    effort: str
    laws: tuple[LawReport, ...]
    tried: tuple[tuple[str, int], ...]
    refused: tuple[Refused, ...] = ()

    @property
    def failures(self) -> tuple[LawReport, ...]:
        """The laws that do not hold, those with a missing rule among them."""
        return tuple(x for x in self.laws if x.verdict == "failed")

    @property
    def ok(self) -> bool:
        """Whether no law fails."""
        return not self.failures

    def raise_if_failed(self) -> None:
        """Raises LawViolation, with all failures, unless all is well."""
        if not self.ok:
            raise LawViolation(f"check: expected all laws to hold, got {len(self.failures)} that do not:\n{self}")

    def to_json(self) -> dict[str, Any]:
        """Returns the report as plain data, for ``json.dumps``."""
        data = {name: getattr(self, name) for name in ("subject", "system", "effort", "ok")}
        laws = [{key: value for key, value in _plain(x).items() if key != "error"} for x in self.laws]
        tried = [{"kind": kind, "cases": cases} for kind, cases in self.tried]
        return {**data, "laws": laws, "tried": tried, "refused": [asdict(x) for x in self.refused]}

    def __str__(self) -> str:
        return "\n".join([self._headline(), "", *self._table(), *self._arguments(), *self._failures()])

    def __repr__(self) -> str:
        return f"<Report of {self._headline()}>"

    def _headline(self) -> str:
        counts = [(word, sum(x.verdict == verdict for x in self.laws)) for verdict, word in _WORDS.items()]
        said = ", ".join(f"{count} {word}" for word, count in counts if count)
        return f"{self.subject} on {self.system}, {self.effort}: {said or 'no law was asked'}"

    def _table(self) -> Iterator[str]:
        if not self.laws:
            return
        wide = max(len(x.law) for x in self.laws)
        first_with = {name: names[0] for names, _ in self._grouped() for name in names[1:]}
        yield f"{'law':<{wide}}  {'verdict':<14}  cases"
        for x in self.laws:
            verdict = "MISSING RULE" if x.missing_rule else _WORDS[x.verdict]
            same = f"as {first_with[x.law]}" if x.law in first_with else ""
            yield _cut(f"{x.law:<{wide}}  {verdict:<14}  {x.cases:>5}", x.missing_rule or same or x.reason)

    def _arguments(self) -> Iterator[str]:
        if self.tried:
            # A number stays on the line of its noun.
            kinds = ", ".join(f"{kind}\0({cases})" for kind, cases in self.tried)
            yield "\n" + textwrap.fill(f"tried with: {kinds}", _WIDTH, subsequent_indent="  ").replace("\0", " ")
        for x in self.refused:
            yield f"not applicable: {x.kind}: {x.reason}"

    def _failures(self) -> Iterator[str]:
        for names, first in self._grouped():
            yield f"\n{', '.join(names)}: {first.reason}"
            if len(names) == 1:
                yield f"  which says: {first.equation}"
            if first.counterexample:
                yield indented(first.counterexample)

    def _grouped(self) -> Iterator[tuple[list[str], LawReport]]:
        """Yields failures with the names of the laws that fail in the same way: one wrong rule may break many."""
        found: dict[str, tuple[list[str], LawReport]] = {}
        for x in self.failures:
            key = x.law if isinstance(x.error, LawViolation) else x.reason
            found.setdefault(key, ([], x))[0].append(x.law)
        yield from found.values()


def _plain(x: LawReport) -> dict[str, Any]:
    return {name: getattr(x, name) for name in LawReport.__slots__}


def _cut(line: str, reason: str) -> str:
    if not reason:
        return line
    room = _WIDTH - len(line) - 2
    first = reason.splitlines()[0]
    return f"{line}  {first if len(first) <= room else first[: room - 1] + '…'}"
