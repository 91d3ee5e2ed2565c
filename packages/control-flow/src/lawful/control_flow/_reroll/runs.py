"""Runs: blocks of equations one after the other that are turns of one loop."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from lawful.control_flow._reroll.periods import periods, stretches
from lawful.control_flow._reroll.table import DEFERRED, OUTSIDE, Integers, Table
from lawful.core import Literal

# What is used so many turns after it is made, at most, is carried; what is used later is not.
_MOST_DELAY: Final = 4


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """Some turns of a loop: ``turns`` blocks of ``period`` equations from the equation ``start`` on."""

    start: int
    period: int
    turns: int

    @property
    def end(self) -> int:
        """The equation after the last."""
        return self.start + self.period * self.turns

    def operands(self, table: Table) -> slice:
        """Returns where the operands of all turns are."""
        return slice(int(table.first[self.start]), int(table.first[self.end]))

    def rows(self, table: Table, values: Integers) -> Integers:
        """Returns one of the numbers of operands, with a row for each turn."""
        found: Integers = values[self.operands(table)].reshape(self.turns, -1)
        return found


def runs_of(table: Table, least: int) -> list[Run]:
    """Returns runs that do not overlap, in order: first those that leave the fewest equations.

    Args:
      table: the program.
      least: how many turns a run has at least.
    """
    waiting = [(-saved(table, run), run) for run in _candidates(table, least)]
    heapq.heapify(waiting)
    taken = np.zeros(len(table.eqns) + 1, bool)
    chosen: list[Run] = []
    while waiting:
        value, run = heapq.heappop(waiting)
        if value >= 0:
            break
        overlap = np.flatnonzero(taken[run.start : run.end]) + run.start
        if not len(overlap):
            taken[run.start : run.end] = True
            chosen.append(run)
            continue
        # What is left of it on either side is a run too, since any of its turns are.
        for start, end in ((run.start, int(overlap[0])), (int(overlap[-1]) + 1, run.end)):
            first = run.start + -(-(start - run.start) // run.period) * run.period
            rest = Run(first, run.period, (end - first) // run.period)
            if rest.turns >= least:
                heapq.heappush(waiting, (-saved(table, rest), rest))
    return sorted(chosen)


def saved(table: Table, run: Run) -> int:
    """Returns about how many equations fewer there are if a run becomes a loop: what is sliced has to be stacked."""
    makers, lines, numbers, positions = (
        run.rows(table, values) for values in (table.makers, table.lines, table.numbers, table.positions)
    )
    sliced = ~(makers >= run.start).any(0) & (numbers != numbers[0]).any(0)
    single = ((makers == OUTSIDE) & (lines == 0)).any(0)
    of_rows = (lines != 0).any(0)
    steps = np.diff(positions, axis=0)
    pieces = 1 + (steps[1:] != steps[:-1]).sum(0)
    operands, cost = run.operands(table), 0
    for column in np.flatnonzero(sliced).tolist():
        atoms = table.atoms[operands.start + column : operands.stop : makers.shape[1]]
        apart = 2 if atoms[0].aval.shape else sum([type(x) is not Literal for x in atoms])
        joined = 2 * int(pieces[column])
        cost += joined if of_rows[column] else apart if single[column] else min(apart, joined)
    return (run.turns - 1) * run.period - 1 - cost


def _candidates(table: Table, least: int) -> Iterator[Run]:
    """Yields runs, which may overlap."""
    for period in periods(table, least):
        for start, end in stretches(table, period, least):
            for run in _unbroken(table, Run(start, period, (end - start) // period), least):
                yield from _regular(table, run, least)


def _unbroken(table: Table, run: Run, least: int) -> Iterator[Run]:
    """Yields the parts of a run in which each turn follows on the one before."""
    makers, numbers, results = (run.rows(table, values) for values in (table.makers, table.numbers, table.results))
    same = (makers[1:] - makers[:-1] == run.period) & (results[1:] == results[:-1]) | (numbers[1:] == numbers[:-1])
    begin = run.start + run.period * np.arange(run.turns - 1)[:, None]
    own = makers[1:] >= begin + run.period
    # No loop has both turns if the second, or the first, makes this operand itself ...
    apart = (~same & (own | (makers[:-1] >= begin))).any(1)
    # ... and none has a turn before the first, if the second takes it from the first.
    fresh = (~same & ~own & (makers[1:] >= begin)).any(1)
    cuts = np.unique(np.concatenate([[0], np.flatnonzero(apart) + 1, np.flatnonzero(fresh), [run.turns]])).tolist()
    for first, last in pairwise(cuts):
        if last - first >= least:
            yield Run(run.start + first * run.period, run.period, last - first)


def _regular(table: Table, run: Run, least: int) -> Iterator[Run]:
    """Yields the parts of a run that are loops."""
    start, period, left = run.start, run.period, run.turns
    while left >= least:
        turns = min(left, 2 * least)
        while (found := _first_irregular(table, Run(start, period, turns))) == turns < left:
            turns = min(left, 4 * turns)
        if found >= least:
            yield Run(start, period, found)
        found = max(found, 1)
        start, left = start + found * period, left - found


def _first_irregular(table: Table, run: Run) -> int:
    """Returns how many turns from the first on are those of one loop.

    In a loop an operand comes, in each turn, from outside; or from one place in the same turn, or some turns before,
    and then from outside in the first turns.
    """
    makers, results = run.rows(table, table.makers), run.rows(table, table.results)
    turns = np.arange(run.turns)[:, None]
    inside = makers >= run.start
    columns = np.arange(makers.shape[1])
    first = np.where(inside.any(0), inside.argmax(0), run.turns)
    at = np.minimum(first, run.turns - 1)
    # What a regular operand has the same in all turns.
    anchors = makers - run.period * turns
    anchor, result = anchors[at, columns], results[at, columns]
    delays = np.maximum(-((anchor - run.start) // run.period), 0)
    regular = inside & (anchors == anchor) & (results == result) & (results != DEFERRED)
    wrong = (turns >= first) & ~regular
    cuts = np.where(wrong.any(0), wrong.argmax(0), run.turns)
    late = (first < run.turns) & ((first > delays) | (delays > _MOST_DELAY))
    return int(np.where(late, np.minimum(cuts, first), cuts).min(initial=run.turns))
