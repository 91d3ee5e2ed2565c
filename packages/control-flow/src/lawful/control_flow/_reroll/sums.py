"""Sums of padded rows: the cotangent of an array whose rows an unrolled loop takes.

Each iteration pads its row with zeros and adds it to the sum. These equations cannot be a part of an iteration, since
their parameters differ. So they are deferred, and the rows are stacked results of a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from lawful.control_flow._reroll.rows import Line, Window, lines, within
from lawful.core import Atom, Jaxpr, JaxprEqn, Literal, Var
from lawful.ops import add_p, pad_p

# The maximal number of groups that are compared pairwise.
_MAX_GROUPS: Final = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Equally spaced rows.

    Attributes:
      axis: the axis along which they are spaced.
      window: the part of the array from the first to the last.
      rows: the variables of the rows, in order.
      gap: the number of indices between two rows.
    """

    axis: int
    window: Window
    rows: Sequence[Var]
    gap: int = 0


@dataclass(frozen=True, slots=True)
class RowSum:
    """The sum of an array, if any, and rows that do not overlap.

    Attributes:
      total: the variable of the sum.
      before: the array that the rows are added to, if any.
      groups: the rows.
      zero: the zero that rows are padded with.
    """

    total: Var
    before: Atom | None
    groups: Sequence[Group]
    zero: Literal

    @property
    def operands(self) -> list[Atom]:
        """All terms."""
        return [*([] if self.before is None else [self.before]), *[var for group in self.groups for var in group.rows]]


def deferred_sums(jaxpr: Jaxpr, least: int) -> tuple[dict[int, RowSum], set[int]]:
    """Returns sums of rows by the number of their last equation, and the numbers of all others.

    Args:
      jaxpr: the program.
      least: the minimal number of rows of a sum.
    """
    found, parts = {}, set()
    chains = [chain for chain in _chains(jaxpr) if len(chain.rows) >= least]
    for chain in _without_repeated(chains, least):
        groups = [*_groups(chain)]
        if _disjoint(groups):
            *others, last = sorted(chain.eqns)
            parts.update(others)
            found[last] = RowSum(jaxpr.eqns[last].outvars[0], chain.before, groups, chain.zero)
    return found, parts


@dataclass(slots=True)
class _Chain:
    """A chain of additions of padded rows: the rows and their windows."""

    zero: Literal
    shape: tuple[int, ...]
    before: Atom | None = None
    rows: list[tuple[Var, Window]] = field(default_factory=list)
    eqns: list[int] = field(default_factory=list)


def _chains(jaxpr: Jaxpr) -> list[_Chain]:
    """Returns the chains of additions whose intermediate sums have no other use."""
    pads: dict[Atom, tuple[int, JaxprEqn]] = {}
    chains: dict[Atom, _Chain] = {}
    if not any([eqn.primitive is pad_p for eqn in jaxpr.eqns]):
        return []
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars)
    uses.update(jaxpr.outvars)
    for number, eqn in enumerate(jaxpr.eqns):
        if _pads_with_zeros(eqn) and uses[eqn.outvars[0]] == 1:
            pads[eqn.outvars[0]] = (number, eqn)
        elif eqn.primitive is add_p and (eqn.invars[0] in pads or eqn.invars[1] in pads):
            before, row = eqn.invars if eqn.invars[1] in pads else eqn.invars[::-1]
            added = [pads.pop(row)]
            chain = chains.pop(before, None) if uses[before] == 1 else None
            if chain is None:
                chain = _Chain(_zero(added[0][1]), eqn.outvars[0].aval.shape, before)
                if before in pads:
                    chain.before = None
                    added.append(pads.pop(before))
            for at, pad in added:
                chain.rows.append((_row(pad), _window(pad)))
                chain.eqns.append(at)
            chain.eqns.append(number)
            chains[eqn.outvars[0]] = chain
    return list(chains.values())


def _without_repeated(chains: Sequence[_Chain], least: int) -> Iterator[_Chain]:
    """Yields chains, except similar ones that repeat often enough for a loop: these are parts of iterations."""
    similar: dict[tuple[object, ...], list[_Chain]] = {}
    for chain in chains:
        similar.setdefault((chain.shape, len(chain.rows), chain.before is None), []).append(chain)
    for members in similar.values():
        count, end = 0, -1
        for first, last in sorted([(min(chain.eqns), max(chain.eqns)) for chain in members], key=lambda ends: ends[1]):
            if first > end:
                count, end = count + 1, last
        if count < least:
            yield from members


def _groups(chain: _Chain) -> Iterator[Group]:
    """Yields the rows of a chain, grouped by line and adjacency."""
    possible = [lines(chain.shape, window) for _, window in chain.rows]
    counts = Counter(line for alternatives in possible for line in alternatives)
    found: dict[Line, list[tuple[int, Var]]] = {}
    for (row, window), alternatives in zip(chain.rows, possible, strict=True):
        line = max(alternatives, key=counts.__getitem__)
        found.setdefault(line, []).append((window[line.axis][0], row))
    for line, rows in found.items():
        rows.sort(key=lambda row: row[0])
        steps = {b[0] - a[0] for a, b in pairwise(rows)}
        if line.size == 1 and len(steps) == 1 and min(steps) > 1:
            window = within(line, rows[0][0], rows[-1][0] + 1)
            yield Group(line.axis, window, [row for _, row in rows], steps.pop() - 1)
            continue
        ends = [i for i, (a, b) in enumerate(pairwise(rows), 1) if b[0] != a[0] + line.size]
        for start, end in pairwise([0, *ends, len(rows)]):
            low, high = rows[start][0], rows[end - 1][0] + line.size
            yield Group(line.axis, within(line, low, high), [row for _, row in rows[start:end]])


def _disjoint(groups: Sequence[Group]) -> bool:
    """Whether each group has rows of one type and no two groups overlap; False if there are too many to compare."""
    if len(groups) > _MAX_GROUPS or any([len({row.aval for row in group.rows}) > 1 for group in groups]):
        return False
    return all(
        any([high <= low or most <= least for (least, high), (low, most) in zip(one.window, other.window, strict=True)])
        for one, other in combinations(groups, 2)
    )


def _pads_with_zeros(eqn: JaxprEqn) -> bool:
    """Whether an equation pads a variable with zeros, without interior padding or cropping."""
    if eqn.primitive is not pad_p or type(eqn.invars[0]) is not Var or not eqn.invars[0].aval.size:
        return False
    zero = eqn.invars[1]
    if type(zero) is not Literal or np.asarray(zero.val).any():
        return False
    return all([low >= 0 and high >= 0 and not interior for low, high, interior in eqn.params["padding_config"]])


def _zero(pad: JaxprEqn) -> Literal:
    zero = pad.invars[1]
    assert type(zero) is Literal
    return zero


def _row(pad: JaxprEqn) -> Var:
    row = pad.invars[0]
    assert type(row) is Var
    return row


def _window(pad: JaxprEqn) -> Window:
    """Returns the window of the padded array in the result."""
    sizes = _row(pad).aval.shape
    return tuple([(low, low + size) for size, (low, *_) in zip(sizes, pad.params["padding_config"], strict=True)])
