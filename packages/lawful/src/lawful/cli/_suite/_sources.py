"""The sequence of cases of a run, which its seed determines."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from itertools import count

from lawful.cli._suite._tasks import Examine
from lawful.cli._usage import UsageError
from lawful.core import primitives_by_name
from lawful.laws import (
    LAWS_AT_SPECIAL_POINTS,
    Implementation,
    Law,
    catalogue_for,
    declared_primitives,
    groups,
    laws,
    sources_for,
)


def chosen_laws(names: Sequence[str]) -> list[Law]:
    """Returns the laws of these names or groups; all of them if none is named.

    Raises:
      UsageError: there is none of a name.
    """
    chosen: list[Law] = []
    for name in names:
        found = [law for law in laws.values() if name in (law.name, law.group)]
        if not found:
            raise UsageError(f"no law or group '{name}'{did_you_mean(name, [*laws, *groups])}")
        chosen += [law for law in found if law not in chosen]
    return chosen if names else list(laws.values())


def check_primitives(names: Sequence[str]) -> None:
    """Raises UsageError if a name is no primitive's."""
    for name in names:
        if name not in primitives_by_name:
            raise UsageError(f"no primitive '{name}'{did_you_mean(name, list(primitives_by_name))}")


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Returns the end of a message that suggests the most similar name, if there is one."""
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(sorted(set(known)))}"


def sources_of_calls(primitives: Sequence[str], chosen: Sequence[Law]) -> list[str]:
    """Returns the names of the sources of calls: three for each declared primitive.

    One keeps from kinks, one draws every dtype, one draws special numbers: a fourth of all cases.

    Args:
      primitives: only these; all if there are none.
      chosen: the laws to check. A source is left out where none of them needs it.
    """
    names = [p.name for p in declared_primitives() if not primitives or p.name in primitives]
    if all(law.smooth for law in chosen):
        return [f"{name}, smooth" for name in names]
    endings = [", smooth", ""]
    if any(law.name in LAWS_AT_SPECIAL_POINTS for law in chosen):
        endings.append(", special")
    return [f"{name}{ending}" for name in names for ending in endings]


def sources_of_programs(
    systems: Sequence[Implementation], primitives: Sequence[str], chosen: Sequence[Law]
) -> list[str]:
    """Returns the names of the sources of programs that systems can run and of which some law says something.

    Args:
      systems: what runs the programs.
      primitives: those of which one has to occur in a program; none for any. A primitive that someone else has
        declared occurs in no program.
      chosen: the laws to check.
    """
    ours = {primitive.name for primitive in catalogue_for(*systems).primitives}
    declared = {primitive.name for primitive in declared_primitives()}
    if primitives and all(name in declared - ours for name in primitives):
        return []
    return [source.name for source in sources_for(*systems) if any(law in source.laws() for law in chosen)]


def cases(seed: int, programs: Sequence[str], calls: Sequence[str], *, sparse: bool) -> Iterator[Examine]:
    """Yields the cases of a seed, without end.

    Args:
      seed: that of the run.
      programs: the sources of programs.
      calls: the sources of calls of primitives.
      sparse: whether most programs will be left out, so that more of them are drawn than calls.
    """
    calls = random.Random(seed).sample(calls, len(calls))  # so that a short run is not limited to the first names
    pattern = [programs] * 4 + [calls] if sparse else [programs] + [calls] * 3
    pattern = [sources for sources in pattern if sources]
    drawn: dict[int, int] = {}
    if not pattern:
        return
    for number in count():
        sources = pattern[number % len(pattern)]
        index = drawn[id(sources)] = drawn.get(id(sources), -1) + 1
        yield Examine(number, sources[index % len(sources)], seed << 32 | index // len(sources))
