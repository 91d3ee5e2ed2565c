"""After how many equations a program repeats itself: candidates, found by the gaps between equal stretches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll.table import DEFERRED, OUTSIDE, Integers, Table

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

# At most so many periods are tried.
_MOST: Final = 24
# A turn of so many equations, at most, is found where these repeat themselves within it, and only their rows do not.
_MANY_ALIKE: Final = 16
# Up to how far back, in equations, operands count by where they are made.
_NEAR: Final = (32, 1024)
# Odd factors mix numbers well in arithmetic modulo 2**64.
_FACTORS: Final = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)))


def periods(table: Table, least: int) -> list[int]:
    """Returns numbers of equations after which a program may repeat itself, the shortest first.

    A stretch of some equations is looked up where it was seen last: inside a loop that is one turn before, if the
    stretch is as long as a turn or more, and the loop has one turn more than that. Of stretches of 1, 4, 16, …
    equations one is less than four turns long; where loops have fewer, they are of 1, 2, 4, …. Equations are told apart
    by their labels, and by what they make their operands of, to some depth: equal labels alone would make one loop of
    ``x * a * b`` and ``x * x``. Which row of an array they take is not told: turns of ``x * a[i] * a[i]``, where all
    equations are alike, are multiples of what is found.

    Args:
      table: the program.
      least: how many turns a loop has at least.
    """
    weights: Counter[int] = Counter()
    doublings = 2 if least > 4 else 1
    for hashes in _views(table):
        # Two turns are at most this long.
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
    found = {period for period, _ in weights.most_common(_MOST)}
    if table.lines.any():
        found.update([many for period in found for many in range(period, _MANY_ALIKE + 1, period)])
    return sorted(found)


def stretches(table: Table, period: int, least: int) -> Iterator[tuple[int, int]]:
    """Yields where stretches begin and end in which each label is that of one period later, of at least some turns."""
    labels = table.labels
    for start, end in _runs(labels[:-period] == labels[period:]):
        if end - start >= (least - 1) * period:
            yield start, end + period


def _views(table: Table) -> Iterator[Hashes]:
    """Yields numbers of equations that tell them apart, more and more finely."""
    labels = table.labels.astype(np.uint64)
    yield labels
    by_operand = _deeper(table, labels, table.numbers)
    by_form = _deeper(table, labels, None)
    yield by_form
    yield by_operand
    yield _deeper(table, _deeper(table, by_form, None), None)
    # Where equal values are computed again and again, only distances tell which of them is meant.
    for near in _NEAR:
        yield _folded(table, labels, _near_distances(table, near))


def _deeper(table: Table, hashes: Hashes, outside: Integers | None) -> Hashes:
    """Returns numbers of equations made of those of the equations that give their operands.

    Args:
      table: the program.
      hashes: the numbers.
      outside: what tells operands apart that no equation gives, or nothing.
    """
    given = hashes[table.makers] * _FACTORS[1] + table.results.astype(np.uint64)
    other = np.zeros_like(given) if outside is None else outside.astype(np.uint64) * _FACTORS[2]
    # Of rows it is only told on which line they lie: each turn has another one.
    rows = (table.lines + len(table.atoms)).astype(np.uint64) * _FACTORS[2]
    known = np.where(table.lines > 0, rows, np.where(table.makers == OUTSIDE, other, given))
    return _folded(table, hashes, known)


def _near_distances(table: Table, near: int) -> Hashes:
    """Returns for each operand how many equations before it was made, up to some number."""
    distances = np.where(table.makers == OUTSIDE, near + 1, table.users - table.makers)
    distances = np.where(table.results == DEFERRED, near + 2 + table.lines, np.minimum(distances, near + 1))
    found: Hashes = distances.astype(np.uint64) * _FACTORS[2]
    return found


def _folded(table: Table, hashes: Hashes, of_operands: Hashes) -> Hashes:
    """Returns numbers of equations made of such numbers and of those of their operands, in their order."""
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
    """Returns how far back a number was seen last, 0 for never, and for how many places in a row that is so."""
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
    """Yields where stretches of true elements begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
