"""Checks laws, and ``check_grads``, on cases while a fault is planted."""

from __future__ import annotations

import math
import re
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Final

import numpy as np

from lawful.laws import Drawn, Effort, Inapplicable, Law, check_grads, draw_case, examine, find_source, quick
from lawful.laws._derivatives.directions import is_wide, restrict
from lawful.laws._law.law import Trial
from lawful.laws.systems import lawful

from ._fault import Fault

#: Laws that count allocations and calls are slow: they check only the first case of each source.
SLOW_GROUPS: Final = ("cost", "leaks")
#: The number of cases of each source for laws of loops. The loops that they make of a case's function differ little.
CASES_OF_LOOPS: Final = 20


@dataclass(frozen=True, slots=True)
class Kill:
    """The fact that a law fails on a case while a fault is planted.

    Attributes:
      source: where the case comes from.
      seed: the seed of the case.
      effort: with how much effort.
      after: how many cases of all sources were tried, this one included.
    """

    source: str
    seed: int
    effort: str
    after: int


#: The limit of processor time for a law on a case: ten times the time in the common case.
SECONDS: Final = 4.0


class EndlessError(Exception):
    """A program does not end, for example because of a fault in a loop counter."""


@contextmanager
def ending(seconds: float = SECONDS) -> Iterator[None]:
    """Raises EndlessError in a block that uses the processor for more than some seconds.

    An exception raised in ``__del__``, or in a callback of a weak reference or of the garbage collector, is lost;
    Python reports it to ``sys.unraisablehook``. Then it is raised again a little later.
    """

    def stop(_: int, __: FrameType | None) -> None:
        raise EndlessError(f"it ran for {seconds} s")

    def lost(what: sys.UnraisableHookArgs) -> None:
        if what.exc_type is EndlessError:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
        else:
            hook_before(what)

    before, hook_before = signal.signal(signal.SIGVTALRM, stop), sys.unraisablehook
    sys.unraisablehook = lost
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        sys.unraisablehook = hook_before


def cases_of(fault: Fault, count: int) -> Iterator[tuple[str, int]]:
    """Yields sources and seeds, with equally many cases of each source of a fault."""
    for number in range(count):
        yield fault.sources[number % len(fault.sources)], number // len(fault.sources)


def drawn(source: str, seed: int) -> Drawn | None:
    """Returns the case of a seed; None if there is none, or if the fault prevents drawing it."""
    with suppress(Exception), ending():
        return draw_case(find_source(source), seed)
    return None


def is_killed(law: Law, source: str, seed: int, effort: Effort = quick) -> bool:
    """Whether a law fails on a case, if the law applies to the source."""
    if law not in find_source(source).laws():
        return False
    case = drawn(source, seed)
    return case is not None and fails(law, case, effort)


def fails(law: Law, case: Drawn, effort: Effort) -> bool:
    """Whether a law fails, or does not end, on a case."""
    try:
        with ending():
            outcome = examine(law, lawful, case, effort)
    except EndlessError:
        return True
    refuse_wrong_arguments(outcome.error)
    return outcome.verdict == "failed"


def refuse_wrong_arguments(error: BaseException | None) -> None:
    """Raises AssertionError if a fault's function does not take the arguments of the right one.

    Every law finds such a fault, which says nothing about the laws: the right function has changed.
    """
    package = __name__.rpartition(".")[0]
    names = {name for module, loaded in sys.modules.items() if module.startswith(package) for name in vars(loaded)}
    while error is not None:
        found = re.search(r"TypeError: ((\w+)\.<locals>\.\S+\(\) .*argument.*)", f"{type(error).__name__}: {error}")
        misfit = found[1] if found and found[2] in names else None
        assert misfit is None, f"the fault does not take the arguments of what it replaces: {misfit}"
        error = error.__cause__ or error.__context__


def kills_of(
    fault: Fault,
    count: int,
    effort: Effort = quick,
    *,
    enough: int | None = None,
    seen: int = 0,
    only: Collection[str] | None = None,
) -> dict[str, Kill]:
    """Returns the first case on which each failing law fails, and holds without the fault.

    Args:
      fault: is planted meanwhile.
      count: how many cases to try.
      effort: how many variants of each law.
      enough: how many laws suffice; by default all are tried on all cases.
      seen: how many of the cases to leave out.
      only: the names of the laws to try; by default all.
    """
    found: dict[str, Kill] = {}
    for after, (name, seed) in enumerate(cases_of(fault, count), 1):
        if after <= seen:
            continue
        with fault.planted():
            failing = _failing(name, seed, effort, found, None if enough is None else enough - len(found), only)
        for law in failing:
            # Alone, as the test checks it: here the laws before may have filled caches.
            with fault.planted():
                is_found = is_killed(law, name, seed, effort)
            if is_found and not is_killed(law, name, seed, effort):
                found[law.name] = Kill(name, seed, effort.name, after)
        if enough is not None and len(found) >= enough:
            break
    return found


def _failing(
    source: str,
    seed: int,
    effort: Effort,
    known: Collection[str],
    enough: int | None,
    only: Collection[str] | None,
) -> list[Law]:
    """Returns laws that fail on a case and are not known yet; not all of them if programs do not end."""
    case, failing, endless = drawn(source, seed), list[Law](), 0
    if case is None:
        return failing
    for law in find_source(source).laws():
        if seed >= _cases_of(law):
            continue
        if law.name in known or (only is not None and law.name not in only):
            continue
        start = time.process_time()
        if fails(law, case, effort):
            failing.append(law)
            endless += time.process_time() - start > SECONDS
            if endless > 1 or (enough is not None and len(failing) >= enough):
                break
    return failing


def _cases_of(law: Law) -> float:
    """Returns how many cases of a source are checked by a law."""
    return 1 if law.group in SLOW_GROUPS else CASES_OF_LOOPS if law.group == "loops" else math.inf


def finds_by_check_grads(source: str, seed: int) -> bool | None:
    """Whether ``check_grads`` fails on a case; None where it does not apply: nothing to differentiate, or no case."""
    case = drawn(source, seed)
    if case is None:
        return None
    try:
        trial = Trial(lawful, case.case, quick, np.random.default_rng(0))
        with ending():
            function, leaves = restrict(trial, is_wide)
    except Inapplicable:
        return None
    except Exception:
        return True
    try:
        with ending():
            check_grads(function, leaves, order=2)
    except Exception:
        return True
    return False


def found_by_check_grads(fault: Fault, count: int) -> Kill | None:
    """Returns the first case on which ``check_grads`` fails, and does not fail without the fault."""
    for after, (name, seed) in enumerate(cases_of(fault, count), 1):
        with fault.planted():
            found = finds_by_check_grads(name, seed)
        if found and finds_by_check_grads(name, seed) is False:
            return Kill(name, seed, "check_grads", after)
    return None
