"""Runs: consecutive blocks of equations that are the iterations of one loop."""

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

# A result is carried over at most this many iterations.
_MAX_DELAY: Final = 4


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """The iterations of a loop: ``trip_count`` blocks of ``period`` equations from the equation ``start`` on."""

    start: int
    period: int
    trip_count: int

    @property
    def end(self) -> int:
        """The equation after the last."""
        return self.start + self.period * self.trip_count

    def operands(self, table: Table) -> slice:
        """Returns the slice of the table's operands that belongs to the run."""
        return slice(int(table.first[self.start]), int(table.first[self.end]))

    def rows(self, table: Table, values: Integers) -> Integers:
        """Returns a column of the table for the operands of the run, with a row for each iteration."""
        found: Integers = values[self.operands(table)].reshape(self.trip_count, -1)
        return found


def runs_of(table: Table, least: int) -> list[Run]:
    """Returns runs that do not overlap, in order; they are chosen greedily by the number of equations saved.

    Args:
      table: the program.
      least: the minimal trip count of a run.
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
        # The iterations left on either side are runs too.
        for start, end in ((run.start, int(overlap[0])), (int(overlap[-1]) + 1, run.end)):
            first = run.start + -(-(start - run.start) // run.period) * run.period
            rest = Run(first, run.period, (end - first) // run.period)
            if rest.trip_count >= least:
                heapq.heappush(waiting, (-saved(table, rest), rest))
    return sorted(chosen)


def saved(table: Table, run: Run) -> int:
    """Returns an estimate of the number of equations saved by a loop: operands that are sliced must be stacked."""
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
    return (run.trip_count - 1) * run.period - 1 - cost


def _candidates(table: Table, least: int) -> Iterator[Run]:
    """Yields runs, which may overlap."""
    for period in periods(table, least):
        for start, end in stretches(table, period, least):
            for run in _unbroken(table, Run(start, period, (end - start) // period), least):
                yield from _regular(table, run, least)


def _unbroken(table: Table, run: Run, least: int) -> Iterator[Run]:
    """Yields the parts of a run in which each iteration is consistent with the one before."""
    makers, numbers, results = (run.rows(table, values) for values in (table.makers, table.numbers, table.results))
    same = (makers[1:] - makers[:-1] == run.period) & (results[1:] == results[:-1]) | (numbers[1:] == numbers[:-1])
    begin = run.start + run.period * np.arange(run.trip_count - 1)[:, None]
    made_inside = makers[1:] >= begin + run.period
    # Cut between two iterations if one of them makes the operand itself and the other takes a different one.
    apart = (~same & (made_inside | (makers[:-1] >= begin))).any(1)
    # Cut before the first of two iterations if only the second takes the operand from its predecessor.
    fresh = (~same & ~made_inside & (makers[1:] >= begin)).any(1)
    cuts = np.unique(np.concatenate([[0], np.flatnonzero(apart) + 1, np.flatnonzero(fresh), [run.trip_count]])).tolist()
    for first, last in pairwise(cuts):
        if last - first >= least:
            yield Run(run.start + first * run.period, run.period, last - first)


def _regular(table: Table, run: Run, least: int) -> Iterator[Run]:
    """Yields the parts of a run that are loops."""
    start, period, left = run.start, run.period, run.trip_count
    while left >= least:
        count = min(left, 2 * least)
        while (found := _first_irregular(table, Run(start, period, count))) == count < left:
            count = min(left, 4 * count)
        if found >= least:
            yield Run(start, period, found)
        found = max(found, 1)
        start, left = start + found * period, left - found


def _first_irregular(table: Table, run: Run) -> int:
    """Returns how many iterations from the first on form one loop.

    An operand of a loop comes either from outside in each iteration, or from one equation of the same or an earlier
    iteration; in the latter case it comes from outside in the first iterations.
    """
    makers, results = run.rows(table, table.makers), run.rows(table, table.results)
    iterations = np.arange(run.trip_count)[:, None]
    inside = makers >= run.start
    columns = np.arange(makers.shape[1])
    first = np.where(inside.any(0), inside.argmax(0), run.trip_count)
    at = np.minimum(first, run.trip_count - 1)
    # For a regular operand, the anchor is the same in all iterations.
    anchors = makers - run.period * iterations
    anchor, result = anchors[at, columns], results[at, columns]
    delays = np.maximum(-((anchor - run.start) // run.period), 0)
    regular = inside & (anchors == anchor) & (results == result) & (results != DEFERRED)
    wrong = (iterations >= first) & ~regular
    cuts = np.where(wrong.any(0), wrong.argmax(0), run.trip_count)
    late = (first < run.trip_count) & ((first > delays) | (delays > _MAX_DELAY))
    return int(np.where(late, np.minimum(cuts, first), cuts).min(initial=run.trip_count))
