"""A benchmark: one program, run by several systems, and the aim for lawful's share of their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchmarks._systems import System

#: A measured call.
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """A call.

    Attributes:
      call: what is measured.
      before: what is done before each call, and not measured.
      rounds: the most rounds where they are long, in the usual time; fewer in less.
    """

    call: Call
    before: Call | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table.

    Attributes:
      group: what it belongs to.
      name: what is measured.
      most: for each peer, the largest ratio of lawful's time to the peer's that is aimed at; None where nothing is.
      prepare: makes the call of a system.
      unit: of the number that calls return where that is compared, and not how long they took; else empty.
    """

    group: str
    name: str
    most: Mapping[str, float | None]
    prepare: Callable[[System], Timed]
    unit: str = ""


#: All cases, in the order of the table.
cases: Final[list[Case]] = []


def case(group: str, name: str, *, unit: str = "", **most: float | None) -> Callable[[Callable[[System], Any]], Any]:
    """Declares a case by the function that prepares it for a system: it returns a call, or `Timed`."""

    def declared(prepare: Callable[[System], Any]) -> Any:
        def timed(system: System) -> Timed:
            found = prepare(system)
            return found if isinstance(found, Timed) else Timed(found)

        cases.append(Case(group, name, most, timed, unit))
        return prepare

    return declared


def chosen(words: list[str]) -> Iterator[Case]:
    """Yields the cases with one of the words in their name or group; all if there are none."""
    for one in cases:
        if not words or any(word.lower() in f"{one.group} {one.name}".lower() for word in words):
            yield one
