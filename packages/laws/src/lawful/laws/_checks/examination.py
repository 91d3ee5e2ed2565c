"""Checks of laws on many cases of one function: whether each law holds, and its smallest counterexample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final

from lawful.core import ConcretizationTypeError, MissingRuleError
from lawful.laws._checks.given import Given, GivenCase, describe, moved_to
from lawful.laws._checks.report import LawReport
from lawful.laws._checks.smaller import Args, smaller
from lawful.laws._checks.variants import is_finite, is_in_domain, refusal
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Law, LawViolation
from lawful.laws._law.tally import tally
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._search.search import Drawn, Outcome, examine, shrink
from lawful.laws._search.sources import Source

# Groups of laws that measure time, memory or garbage, or build many loops of each function.
_SLOW: Final = ("loops", "cost", "errors", "leaks")
# The time limit of shrinking a drawn case, in seconds, for each failing law.
_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A case that laws are held against.

    Attributes:
      kind: what kind of arguments it has, in words.
      drawn: the case, with the choices that it was drawn with, if it was.
      effort: how many variants of a law are tried on it.
      source: where it was drawn from; None for arguments that were given.
      only: the names of the laws that are asked; None for all.
      slow: whether laws are asked too of which each takes as long as all the others.
    """

    kind: str
    drawn: Drawn
    effort: Effort
    source: Source | None = None
    only: frozenset[str] | None = None
    slow: bool = False

    @classmethod
    def of(
        cls, kind: str, case: Case, effort: Effort, *, only: frozenset[str] | None = None, slow: bool = False
    ) -> Sample:
        """Returns the sample of a given case."""
        return cls(kind, Drawn(case, kind, ()), effort, only=only, slow=slow)

    def concerns(self, law: Law) -> bool:
        """Whether a law applies to it."""
        if self.only is not None and law.name not in self.only:
            return False
        if law.group in _SLOW and not self.slow:
            return False
        return self.source is None or law in self.source.laws()


class Examination:
    """A function or primitive that is checked by one law after the other.

    Args:
      system: the system of transformations.
      samples: the cases.
      needs_values: why the function cannot be staged, if it asks for the values of its arguments.
    """

    def __init__(
        self, system: Implementation, samples: Sequence[Sample], needs_values: ConcretizationTypeError | None = None
    ) -> None:
        self.system = system
        self.samples = list(samples)
        self.needs_values = needs_values
        #: Shrunk counterexamples of earlier laws, which are tried first.
        self.small: list[Sample] = []

    def by(self, law: Law) -> LawReport:
        """Returns the outcome of a law."""
        cases, reasons = 0, ["there is no case that it is about"]
        concerned = [sample for sample in self.samples if sample.concerns(law)]
        # A law that takes as long as four others is tried on its share of the cases; on others if it applies to none.
        stride = round(1 / law.share) if law.share <= 1 / 4 else 1
        first = [*[sample for sample in self.small if sample.concerns(law)], *concerned[::stride]]
        others = [sample for number, sample in enumerate(concerned) if number % stride]
        for number, sample in enumerate((*first, *others)):
            if cases and number >= len(first):
                break
            outcome = examine(law, self.system, sample.drawn, sample.effort)
            excuse = self._excuse(outcome)
            if sample in self.small and not isinstance(outcome.error, LawViolation):
                continue
            if excuse is not None:
                reasons.append(excuse)
            elif outcome.verdict == "failed":
                return self._failure(outcome, sample, cases + 1)
            else:
                cases += 1
        if cases:
            return LawReport(law.name, law.group, law.equation, "passed", cases)
        return LawReport(law.name, law.group, law.equation, "inapplicable", 0, reasons[min(1, len(reasons) - 1)])

    def _excuse(self, outcome: Outcome) -> str | None:
        """Returns the reason if an outcome says nothing about the law; None otherwise."""
        error = outcome.error
        if outcome.verdict == "inapplicable":
            return _sentence(error)
        if isinstance(error, ConcretizationTypeError) and self.needs_values is not None:
            return f"the function asks for values, so that it cannot be staged: {_sentence(error)}"
        return None

    def _failure(self, outcome: Outcome, sample: Sample, cases: int) -> LawReport:
        law = outcome.law
        missing = missing_rule(outcome.error)
        if missing is None and sample not in self.small:
            with tally.paused():
                outcome = self._smallest(outcome, sample)
            if isinstance(outcome.error, LawViolation):
                self.small.append(replace(sample, drawn=outcome.drawn))
        error = outcome.error
        assert error is not None
        # By convention a primitive's name ends in _p; the longer expression is valid for every primitive.
        counterexample = re.sub(r"core\.primitives_by_name\['(\w+)'\]", r"\1_p", outcome.drawn.case.text(self.system))
        if missing is not None:
            reason = f"missing rule: {_sentence(error)}"
        elif isinstance(error, LawViolation):
            reason, _, details = error.explanation.partition("\n")
            counterexample = "\n".join(filter(None, [counterexample, details]))
        else:
            reason = f"raises {describe(error)}{_user_line_of(error)}"
        size = getattr(error, "size", None)
        return LawReport(
            law.name, law.group, law.equation, "failed", cases, reason, counterexample, size, missing, error
        )

    def _smallest(self, outcome: Outcome, sample: Sample) -> Outcome:
        if sample.source is not None:
            outcome = shrink(self.system, outcome, sample.effort, _SECONDS, sample.source)
        case = outcome.drawn.case
        assert isinstance(case, GivenCase | PrimitiveCall)
        given: Given = case
        best, finite = outcome, is_finite(given, self.system)
        is_special = not is_in_domain(given)

        def fails(candidate: Given) -> bool:
            nonlocal best
            if not (is_special or is_in_domain(candidate)) or refusal(candidate, self.system) is not None:
                return False
            if finite and not is_finite(candidate, self.system):
                return False
            found = examine(outcome.law, self.system, Drawn(candidate, sample.kind, ()), sample.effort)
            if found.verdict != "failed" or _cause_of(found.error) != _cause_of(outcome.error):
                return False
            best = found
            return True

        def still_fails(args: Args) -> bool:
            return fails(moved_to(given, args))

        plain = moved_to(given, given.args, seed=0)
        if given.seed and fails(plain):
            given = plain
        smaller(given.args, still_fails)
        return best


def missing_rule(error: BaseException | None) -> str | None:
    """Returns the call that defines a missing rule, such as ``sin_p.def_jvp``."""
    if not isinstance(error, MissingRuleError):
        return None
    found = re.search(r"define it with (\S+)", error.message)
    return found[1] if found else None


def _sentence(error: BaseException | None) -> str:
    """Returns the text of an error without its source line."""
    text = str(getattr(error, "message", error)).splitlines()[0]
    return re.sub(r"^(law|law_\w+): ", "", text)


def _cause_of(error: BaseException | None) -> tuple[object, ...]:
    """Returns the key by which two failures may have the same cause."""
    if isinstance(error, LawViolation):
        first = error.explanation.partition("\n")[0]
        words = re.sub(r"^at result\S*: ", "", first)
        return type(error), error.size is None, re.split(r"[\d\[(]", words)[0][:24]
    return (type(error),)


def _user_line_of(error: BaseException) -> str:
    """Returns the last line of a user's file in the traceback of an error; empty if there is none."""
    line = ""
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in ("lawful", "numpy", "contextlib", "threading", "functools") and "<lawful" not in (
            frame.f_code.co_filename
        ):
            line = f", at {frame.f_code.co_filename}:{traceback.tb_lineno} ({frame.f_code.co_name})"
        traceback = traceback.tb_next
    return line
