"""The search for a case in which a law fails, and its shrinking.

A seeded generator draws cases fast and records its choices. Hypothesis replays the choices of a failing case and
shrinks it: both draw the same language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import inf
from time import monotonic
from typing import Any, Final, Literal

import numpy as np
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky, Unsatisfiable

from lawful import ops
from lawful.core import Primitive, no_collections, primitives_by_name
from lawful.laws._forms import forms
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort, quick, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law, laws
from lawful.laws._primitives.call import draw_call
from lawful.laws._programs.choose import Chooser, HypothesisChoose, RandomChoose, ReplayChoose, usual_dtypes
from lawful.laws._search.generation import Generation, draw_program
from lawful.laws._search.restriction import generation_for

Dtypes = tuple[np.dtype[Any], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A source of cases of one sort.

    Attributes:
      name: what it is called, in reports and in the database of failures.
      draw: draws a case.
      dtypes: those that may be drawn.
      smooth: whether cases keep away from kinks, so that laws with finite differences apply.
      subject: what laws apply: to every function, or to calls of a primitive too.
      only: the names of the laws that apply; None for all.
    """

    name: str
    draw: Callable[[Chooser], Case]
    dtypes: Dtypes
    smooth: bool
    subject: Literal["function", "primitive"] = "function"
    only: frozenset[str] | None = None

    def laws(self) -> list[Law]:
        """Returns the laws that apply to its cases."""
        return [
            law for law in laws.values()
            if (self.only is None or law.name in self.only)
            and (self.smooth or not law.smooth) and (self.subject == "primitive" or law.subject == "function")
        ]  # fmt: skip


def source_of_programs(name: str, generation: Generation) -> Source:
    """Returns a source of programs.

    Args:
      name: what it is called.
      generation: what programs are drawn.
    """
    return Source(name, lambda choose: draw_program(choose, generation), generation.dtypes, generation.smooth)


_DIFFERENTIABLE: Final[Dtypes] = tuple(map(np.dtype, ("float64", "complex128")))


def source_of_calls(primitive: Primitive, *, smooth: bool) -> Source:
    """Returns a source of calls of a primitive, within its domain.

    Args:
      primitive: it has a declaration.
      smooth: whether to keep away from kinks, with floats wherever the primitive takes them; else of every dtype.
    """
    return Source(
        f"{primitive.name}, smooth" if smooth else primitive.name,
        lambda choose: draw_call(primitive, choose, smooth=smooth),
        _DIFFERENTIABLE if smooth else usual_dtypes,
        smooth,
        "primitive",
    )


def source_of_weak_calls(primitive: Primitive) -> Source:
    """Returns a source of calls of a primitive with Python numbers, away from kinks.

    Args:
      primitive: it has a declaration.
    """
    return Source(
        f"{primitive.name}, weak",
        lambda choose: draw_call(primitive, choose, smooth=True, weak=True),
        _DIFFERENTIABLE,
        True,
        "primitive",
    )


#: The laws that hold at special numbers too: they need no smoothness, and compare element by element.
LAWS_AT_SPECIAL_POINTS: Final = frozenset(
    {
        *("eval_jaxpr", "jit_is_eager", "vmap_is_loop", "linearize_is_jvp", "special_values"),
        *("primitive_reference", "primitive_specialised", "primitive_typing", "primitive_traced_rules"),
        *("primitive_special_points", "primitive_special_transpose"),
    }
)


def source_of_special_calls(primitive: Primitive) -> Source:
    """Returns a source of calls of a primitive with special numbers: zeros, ties, ends of the domain, NaN, infinities.

    Args:
      primitive: it has a declaration.
    """
    return Source(
        f"{primitive.name}, special",
        lambda choose: draw_call(primitive, choose, special=True),
        usual_dtypes,
        False,
        "primitive",
        LAWS_AT_SPECIAL_POINTS,
    )


_COMPLEX: Final[Dtypes] = tuple(map(np.dtype, ("complex128", "float64", "int64")))

# The settings of each sort of programs.
_KINDS: Final[dict[str, dict[str, Any]]] = {
    "smooth": {},
    "complex": {"dtypes": _COMPLEX},
    "every dtype": {"dtypes": usual_dtypes, "smooth": False},
    "sharded": {"forms": tuple(forms), "nesting": 6},
}

# The features, as ``Implementation.absent`` names them, that programs of a sort need.
_NEEDS: Final = {"complex": {"complex"}, "sharded": {"devices", "meshes in programs"}}

#: The sorts of programs that lawful is checked on.
program_sources: Final[dict[str, Source]] = {
    kind: source_of_programs(kind, Generation(**changes)) for kind, changes in _KINDS.items()
}


def sources_for(system: Implementation, *others: Implementation) -> tuple[Source, ...]:
    """Returns the kinds of programs that a system can be held against, and that others can run too.

    >>> from lawful.laws.systems import lawful
    >>> [source.name for source in sources_for(lawful)]
    ['smooth', 'complex', 'every dtype', 'sharded']
    """
    systems = (system, *others)
    absent = {capability for each in systems for capability in each.absent}
    kinds = [kind for kind in _KINDS if not _NEEDS.get(kind, set()) & absent]
    if all(each.ops is ops for each in systems):
        return tuple([program_sources[kind] for kind in kinds])
    return tuple([find_source(f"{kind}{_OF}{_AND.join(each.name for each in systems)}") for kind in kinds])


_OF: Final = " of "
_AND: Final = " and "
_WITH: Final = " with "
_COMMA: Final = ", "


@cache
def find_source(name: str) -> Source:
    """Returns a source by its name: a kind of programs, or a primitive's name with or without ``", smooth"`` or
    ``", special"``.

    What another system than lawful can run of a kind of programs is called ``"smooth of jax"``, and what two can
    run ``"smooth of lawful and jax"``; those with some forms only are ``"smooth with scan, while_loop"``.

    Raises:
      KeyError: there is none.
    """
    if name in program_sources:
        return program_sources[name]
    kind, of, systems = name.partition(_OF)
    if of:
        from lawful.laws.systems import find_system  # the adapters import this package

        return source_of_programs(name, generation_for(*map(find_system, systems.split(_AND)), **_KINDS[kind]))
    kind, with_forms, names = name.partition(_WITH)
    if with_forms:
        return source_of_programs(
            name, Generation(**{**_KINDS[kind], "forms": tuple(names.split(_COMMA)), "nesting": 12})
        )
    if name.endswith(", special"):
        return source_of_special_calls(primitives_by_name[name.removesuffix(", special")])
    primitive = primitives_by_name[name.removesuffix(", smooth")]
    return source_of_calls(primitive, smooth=name.endswith(", smooth"))


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case with the choices that it is made of.

    Attributes:
      case: the case.
      source: the name of its source.
      choices: what was chosen; the same choices give the same case.
      seed: what the choices were drawn with, if they were.
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
    """

    law: Law
    verdict: Literal["passed", "failed", "inapplicable"]
    drawn: Drawn
    error: Exception | None = None


def examine(law: Law, system: Implementation, drawn: Drawn, effort: Effort = usual) -> Outcome:
    """Returns what a law says of a case.

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
