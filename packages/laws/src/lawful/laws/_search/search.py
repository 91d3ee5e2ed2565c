"""The search for a case in which a law fails, and its shrinking.

A seeded generator draws cases fast and records its choices. Hypothesis replays the choices of a failing case and
shrinks it: both draw the same language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Final, Literal

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky, Unsatisfiable

from lawful.core import no_collections
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort, quick, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law
from lawful.laws._programs.choose import HypothesisChoose, RandomChoose, ReplayChoose
from lawful.laws._search.sources import Source, find_source


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case with the choices that it is made of.

    Attributes:
      case: the case.
      source: the name of its source.
      choices: what was chosen; the same choices give the same case.
      seed: what the choices were drawn with, if they were.

    >>> from lawful.laws import draw_case, find_source
    >>> drawn = draw_case(find_source("sin"), 1)
    >>> drawn.source, drawn.seed, drawn.case.primitive
    ('sin', 1, sin_p)
    """

    case: Case
    source: str
    choices: tuple[int, ...]
    seed: int | None = None


def draw_case(source: Source, seed: int) -> Drawn:
    """Returns the case of a seed.

    Raises:
      Inapplicable: there is a kink where the source must keep away from kinks.

    >>> draw_case(find_source("sin"), 1).case.primitive.name
    'sin'
    """
    choose = RandomChoose(seed, source.dtypes)
    return Drawn(source.draw(choose), source.name, tuple(choose.choices), seed)


def replay_case(source: Source, choices: Sequence[int]) -> Drawn:
    """Returns the case of some choices, also if the ops or the generator have changed since they were made.

    Raises:
      Inapplicable: as `draw_case`.

    >>> source = find_source("sin")
    >>> replay_case(source, draw_case(source, 1).choices).case.primitive
    sin_p
    """
    return Drawn(source.draw(ReplayChoose(choices, source.dtypes)), source.name, tuple(choices))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of a law on a case.

    Attributes:
      law: the law.
      verdict: whether it holds; ``"failed"`` also where anything else than a law's own error was raised.
      drawn: the case.
      error: what was raised, if anything.

    >>> from lawful.laws import laws
    >>> from lawful.laws.systems import lawful
    >>> outcome = examine(laws["jvp_linear"], lawful, draw_case(find_source("sin, smooth"), 1))
    >>> outcome.law.name, outcome.verdict, outcome.error
    ('jvp_linear', 'passed', None)
    """

    law: Law
    verdict: Literal["passed", "failed", "inapplicable"]
    drawn: Drawn
    error: Exception | None = None


def examine(law: Law, system: Implementation, drawn: Drawn, effort: Effort = usual) -> Outcome:
    """Returns what a law says of a case.

    >>> from lawful.laws import laws
    >>> from lawful.laws.systems import lawful
    >>> examine(laws["jvp_linear"], lawful, draw_case(find_source("sin, smooth"), 1)).verdict
    'passed'
    """
    try:
        law(system, drawn.case, effort=effort)
    except Inapplicable as error:
        return Outcome(law, "inapplicable", drawn, error)
    except Exception as error:  # any error raised by a rule is a failure of the law
        return Outcome(law, "failed", drawn, error)
    return Outcome(law, "passed", drawn)


def examine_all(
    system: Implementation, source: Source, seeds: Iterable[int], chosen: Sequence[Law] | None = None,
    effort: Effort = quick,
) -> Iterator[list[Outcome]]:  # fmt: skip
    """Yields what the laws say of one case after the other.

    Args:
      system: the system of transformations.
      source: where cases come from.
      seeds: one for each case; a seed that gives no case yields an empty list.
      chosen: the laws; all that apply by default.
      effort: how many variants are tried on each case.

    >>> from lawful.laws import laws
    >>> from lawful.laws.systems import lawful
    >>> found = examine_all(lawful, find_source("sin, smooth"), range(3), [laws["jvp_linear"]])
    >>> [[outcome.verdict for outcome in outcomes] for outcomes in found]
    [['passed'], ['passed'], ['passed']]
    """
    applicable = [law for law in source.laws() if chosen is None or law in chosen]
    for seed in seeds:
        try:
            drawn = draw_case(source, seed)
        except Inapplicable:
            yield []
            continue
        with no_collections():  # as in `check_groups`
            outcomes = [examine(law, system, drawn, effort) for law in applicable]
        yield outcomes


def same_failure(one: BaseException | None, other: BaseException | None) -> bool:
    """Whether two failures may have the same cause: both are violations, or their errors have the same class."""
    return type(one) is type(other)


def shrink(
    system: Implementation,
    outcome: Outcome,
    effort: Effort = usual,
    seconds: float | None = None,
    source: Source | None = None,
) -> Outcome:
    """Returns a failure of the same law and kind on as simple a case as Hypothesis finds.

    Args:
      system: the system of transformations.
      outcome: a failure.
      effort: as it was found, so that the same variants are tried.
      seconds: how long to look; without end if None.
      source: where the case came from; by default the one of that name.

    >>> from dataclasses import replace
    >>> from lawful.laws import laws
    >>> from lawful.laws.systems import lawful
    >>> never = replace(laws["eval_jaxpr"], check=lambda system, case, effort: 1 / 0)
    >>> outcome = examine(never, lawful, draw_case(find_source("smooth"), 1))
    >>> outcome.verdict, shrink(lawful, outcome).drawn.case.equation_count
    ('failed', 0)
    """
    source = source or find_source(outcome.drawn.source)
    end = inf if seconds is None else monotonic() + seconds
    # The result depends on the random order of attempts, so the best of a few runs is taken. Their seeds are fixed, so
    # that a failure always becomes the same small one.
    found = [_shrink_once(system, outcome, effort, source, end, 0)]
    while len(found) < _TRIES and monotonic() < end:
        found.append(_shrink_once(system, outcome, effort, source, end, len(found)))
    return min(found, key=lambda each: (len(each.drawn.choices), each.drawn.choices))


def _shrink_once(
    system: Implementation, outcome: Outcome, effort: Effort, source: Source, end: float, number: int
) -> Outcome:
    best = [outcome]

    def still_fails(drawn: Drawn) -> bool:
        if monotonic() > end:
            return False
        found = examine(outcome.law, system, drawn, effort)
        if found.verdict != "failed" or not same_failure(found.error, outcome.error):
            return False
        best[:] = [found]
        return True

    silent = settings(
        database=_OneCase(outcome.drawn.choices), deadline=None, phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip

    # Settings come last: the seed decorator would drop the database.
    @silent
    @seeded(number)
    @given(_drawn_by_hypothesis(source))
    def search(drawn: Drawn) -> None:
        if still_fails(drawn):
            raise _StillFails

    # The failure as found remains if it depends on more than the case.
    with suppress(_StillFails, Unsatisfiable, Flaky):
        search()
    return best[0]


class _StillFails(Exception):
    """A case fails like the previous one."""


class _OneCase(ExampleDatabase):
    """A Hypothesis database that contains one failing case, so that it is shrunk."""

    def __init__(self, choices: Sequence[int]) -> None:
        super().__init__()
        # One choice too many: Hypothesis takes an exact fit for a case that it has shrunk before.
        self._encoded = choices_to_bytes((*choices, 0))

    def fetch(self, key: bytes) -> Iterator[bytes]:
        yield self._encoded

    def save(self, key: bytes, value: bytes) -> None:
        """Stores nothing: the caller has the case."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Deletes nothing."""


_TRIES: Final = 3


@st.composite
def _drawn_by_hypothesis(draw: st.DrawFn, source: Source) -> Drawn:
    choose = HypothesisChoose(draw, source.dtypes)
    try:
        case = source.draw(choose)
    except Inapplicable:
        reject()
    return Drawn(case, source.name, tuple(choose.choices))
