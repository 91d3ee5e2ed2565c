"""A program as arrays of numbers, in which repetitions are looked for by whole arrays at a time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll.deferred import Deferred
from lawful.control_flow._reroll.labels import literal_key
from lawful.control_flow._reroll.rows import Row
from lawful.control_flow._reroll.sums import RowSum
from lawful.core import Atom, Jaxpr, JaxprEqn, Literal

Integers = np.ndarray[Any, np.dtype[np.int64]]

#: Of an operand that no equation gives: an input, a constant or a literal.
OUTSIDE: Final = -1
#: In place of the number of the result, of an operand that is written only where it is needed.
DEFERRED: Final = -2


@dataclass(frozen=True, slots=True)
class Table:
    """The equations of a program that stay, and their operands, one after the other.

    Attributes:
      eqns: the equations.
      labels: of each.
      first: where the operands of each begin; and last, how many operands there are.
      users: for each operand the equation that takes it.
      order: for each operand which one of that equation's it is.
      atoms: the operands, of which conversions between weak and strong that are taken out are the values themselves.
      numbers: of each operand: equal for the same variable, or the same literal.
      makers: for each operand the equation that gives it, or the last one that it needs.
      results: for each operand which result of that equation it is.
      lines: for each operand, equal for rows on one line of an array, 0 for what is no row.
      positions: for each operand, where it lies on its line, if it is a row, or which equation gives it.
    """

    eqns: Sequence[JaxprEqn]
    labels: Integers
    first: Integers
    users: Integers
    order: Integers
    atoms: Sequence[Atom]
    numbers: Integers
    makers: Integers
    results: Integers
    lines: Integers
    positions: Integers


def table_of(jaxpr: Jaxpr, labels: Sequence[int], deferred: Deferred) -> Table:
    """Returns the table of a program, whose equations have these labels, without what is deferred."""
    values, dropped = deferred.values, deferred.dropped
    places = [number for number in range(len(jaxpr.eqns)) if number not in values and number not in dropped]
    eqns = [jaxpr.eqns[place] for place in places]
    atoms = [*deferred.originals([x for eqn in eqns for x in eqn.invars])]
    rows = {i: row for i, atom in enumerate(atoms) if (row := deferred.rows.get(atom))} if deferred.rows else {}
    known: dict[Hashable, int] = {}
    numbers = _array([known.setdefault(key, len(known)) for key in _keys(atoms, rows)])
    makers, results = [values[numbers] for values in _givers(eqns, known)]
    late = _late(jaxpr, eqns, deferred)
    for i, atom in enumerate(atoms) if late else ():
        if atom in late:
            makers[i], results[i] = late[atom], DEFERRED
    lines, positions = np.zeros_like(makers), makers.copy()
    known_lines: dict[Hashable, int] = {}
    for i, row in rows.items():
        lines[i] = known_lines.setdefault((row.array, row.line), len(known_lines) + 1)
        positions[i] = row.start
    counts = [len(eqn.invars) for eqn in eqns]
    return Table(
        eqns, _array([labels[place] for place in places]), _array([0, *accumulate(counts)]), *_places(counts), atoms,
        numbers, makers, results, lines, positions,
    )  # fmt: skip


def _givers(eqns: Sequence[JaxprEqn], numbers: Mapping[Hashable, int]) -> tuple[Integers, Integers]:
    """Returns for each number of an operand the equation that gives it, and which result of that it is."""
    unused = len(numbers)
    found = [numbers.get(var, unused) for eqn in eqns for var in eqn.outvars]
    makers, results = np.full(unused + 1, OUTSIDE), np.zeros(unused + 1, np.int64)
    makers[found], results[found] = _places([len(eqn.outvars) for eqn in eqns])
    return makers[:-1], results[:-1]


def _keys(atoms: Sequence[Atom], rows: Mapping[int, Row]) -> list[Hashable]:
    """Returns what is equal for the same variable, literal, or row of an array."""
    # A number of the user's program is one object, wherever a loop puts it.
    literals = {(id(x.val), x.aval): x for x in atoms if type(x) is Literal}
    key_of = {same: literal_key(x) for same, x in literals.items()}
    keys: list[Hashable] = [key_of[id(x.val), x.aval] if type(x) is Literal else x for x in atoms]
    for i, row in rows.items():
        keys[i] = row
    return keys


def _late(jaxpr: Jaxpr, eqns: Sequence[JaxprEqn], deferred: Deferred) -> dict[Atom, int]:
    """Returns for each variable that is deferred the last of the equations of the table that it needs."""
    numbers = [
        number
        for number, value in sorted(deferred.values.items(), key=itemgetter(0))
        if isinstance(value, RowSum) or not deferred.is_conversion(value)
    ]
    made: dict[Atom, int] = {var: at for at, eqn in enumerate(eqns) for var in eqn.outvars} if numbers else {}
    late: dict[Atom, int] = {}
    for number in numbers:
        value = deferred.values[number]
        operands = deferred.originals(value.operands if isinstance(value, RowSum) else value.invars)
        last = max([late[x] if x in late else made.get(x, OUTSIDE) for x in operands], default=OUTSIDE)
        late.update(dict.fromkeys(jaxpr.eqns[number].outvars, last))
    return late


def _places(counts: Sequence[int]) -> tuple[Integers, Integers]:
    """Returns for each of all operands, or results, of which equation it is, and which of that equation's."""
    sizes = _array(counts)
    owners = np.repeat(np.arange(len(counts)), sizes)
    return owners, np.arange(len(owners)) - (np.cumsum(sizes) - sizes)[owners]


def _array(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
