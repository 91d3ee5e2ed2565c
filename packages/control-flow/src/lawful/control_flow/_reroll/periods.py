"""Candidate periods: after how many equations a program repeats itself, by the gaps between equal stretches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll.table import DEFERRED, OUTSIDE, Integers, Table

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

# The maximal number of periods to try.
_MAX_PERIODS: Final = 24
# Multiples of a period are tried up to this length, for iterations whose equations are equal up to the rows they take.
_MAX_MULTIPLE: Final = 16
# Distances in equations up to which operands are told apart by the distance to their maker.
_NEAR: Final = (32, 1024)
# Odd factors for hashing in arithmetic modulo 2**64.
_FACTORS: Final = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)))


def periods(table: Table, least: int) -> list[int]:
    """Returns candidate periods of a program, the shortest first.

    For each stretch of equations, the gap to its last occurrence is taken. Inside a loop the gap is one period, if the
    stretch is at least one iteration long, and the loop has one iteration more. With stretches of 1, 4, 16, …
    equations, one of them is less than four iterations long; if loops may have fewer iterations, stretches are of
    1, 2, 4, … equations. The hash of an equation contains its label, and to some depth the equations that make
    its operands: with labels alone, ``x * a * b`` and ``x * x`` would be equal. It does not contain rows of arrays, so
    the period of ``x * a[i] * a[i]``, whose equations are all equal, is a multiple of the gap.

    Args:
      table: the program.
      least: the minimal trip count of a loop.
    """
    weights: Counter[int] = Counter()
    doublings = 2 if least > 4 else 1
    for hashes in _views(table):
        # The maximal length of two iterations.
        most, width = 2 * len(hashes) // least, 1
        while len(hashes) > width:
            gaps, counts = _gaps(hashes)
            fit = (gaps > 0) & (counts + gaps + width > (least - 1) * gaps)
            for gap, count in zip(gaps[fit].tolist(), counts[fit].tolist(), strict=True):
                weights[gap] += count
            if width > most or not gaps.any():
                break
            for _ in range(doublings):
                if len(hashes) > width:
                    hashes = _mixed(hashes[:-width], hashes[width:])
                width *= 2
    found = {period for period, _ in weights.most_common(_MAX_PERIODS)}
    if table.lines.any():
        found.update([multiple for period in found for multiple in range(period, _MAX_MULTIPLE + 1, period)])
    return sorted(found)


def stretches(table: Table, period: int, least: int) -> Iterator[tuple[int, int]]:
    """Yields start and end of stretches with periodic labels and at least ``least`` iterations."""
    labels = table.labels
    for start, end in _runs(labels[:-period] == labels[period:]):
        if end - start >= (least - 1) * period:
            yield start, end + period


def _views(table: Table) -> Iterator[Hashes]:
    """Yields hashes of equations, from coarse to fine."""
    labels = table.labels.astype(np.uint64)
    yield labels
    by_operand = _deeper(table, labels, table.numbers)
    by_form = _deeper(table, labels, None)
    yield by_form
    yield by_operand
    yield _deeper(table, _deeper(table, by_form, None), None)
    # If equal values are computed repeatedly, only distances tell them apart.
    for near in _NEAR:
        yield _folded(table, labels, _near_distances(table, near))


def _deeper(table: Table, hashes: Hashes, outside: Integers | None) -> Hashes:
    """Returns hashes of equations combined with the hashes of the equations that make their operands.

    Args:
      table: the program.
      hashes: the hashes.
      outside: numbers of operands that no equation makes; None if they are not told apart.
    """
    given = hashes[table.makers] * _FACTORS[1] + table.results.astype(np.uint64)
    other = np.zeros_like(given) if outside is None else outside.astype(np.uint64) * _FACTORS[2]
    # For rows only the line is hashed: each iteration has another row.
    rows = (table.lines + len(table.atoms)).astype(np.uint64) * _FACTORS[2]
    known = np.where(table.lines > 0, rows, np.where(table.makers == OUTSIDE, other, given))
    return _folded(table, hashes, known)


def _near_distances(table: Table, near: int) -> Hashes:
    """Returns for each operand the distance to the equation that makes it, limited to ``near + 1``."""
    distances = np.where(table.makers == OUTSIDE, near + 1, table.users - table.makers)
    distances = np.where(table.results == DEFERRED, near + 2 + table.lines, np.minimum(distances, near + 1))
    found: Hashes = distances.astype(np.uint64) * _FACTORS[2]
    return found


def _folded(table: Table, hashes: Hashes, of_operands: Hashes) -> Hashes:
    """Returns hashes of equations combined with the hashes of their operands, in order."""
    factors = table.order.astype(np.uint64) * np.uint64(2) + _FACTORS[0]
    terms = (of_operands ^ (of_operands >> np.uint64(29))) * factors
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return _mixed(hashes, sums[table.first[1:]] - sums[table.first[:-1]])


def _mixed(left: Hashes, right: Hashes) -> Hashes:
    first, second = left * _FACTORS[0], (right ^ (right >> np.uint64(31))) * _FACTORS[1]
    mixed = np.add(first, second, dtype=np.uint64)
    found: Hashes = mixed ^ (mixed >> np.uint64(33))
    return found


def _gaps(hashes: Hashes) -> tuple[Integers, Integers]:
    """Returns the runs of equal gaps: the gap to the last equal hash, 0 if there is none, and the length of the run."""
    order = hashes.argsort(kind="stable")
    ordered = hashes[order]
    (again,) = (ordered[1:] == ordered[:-1]).nonzero()
    seen = order[again + 1]
    back = np.zeros(len(hashes), np.int64)
    back[seen] = seen - order[again]
    (changes,) = (back[1:] != back[:-1]).nonzero()
    edges = np.concatenate([[0], changes + 1, [len(back)]])
    return back[edges[:-1]], edges[1:] - edges[:-1]


def _runs(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> Iterator[tuple[int, int]]:
    """Yields start and end of the stretches of true elements."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
