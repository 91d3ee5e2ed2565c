"""A program as arrays of numbers, in which repetitions are found by vectorized NumPy operations."""

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

#: The maker of an operand that no equation makes: an input, a constant or a literal.
OUTSIDE: Final = -1
#: The result number of a deferred operand.
DEFERRED: Final = -2


@dataclass(frozen=True, slots=True)
class Table:
    """The equations of a program that are not deferred, and all of their operands in order.

    Attributes:
      eqns: the equations.
      labels: the label of each equation.
      first: the index of the first operand of each equation, and last the number of operands.
      users: for each operand the equation that takes it.
      order: for each operand its number among the operands of that equation.
      atoms: the operands, without deferred conversions of weakness.
      numbers: for each operand a number, equal for the same variable or literal.
      makers: for each operand the equation that makes it; if it is deferred, the last equation that it needs.
      results: for each operand its number among the results of that equation.
      lines: for each operand a number, equal for rows on one line of an array, 0 if it is not a row.
      positions: for each operand its start on the line if it is a row, else its maker.
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
    """Returns the table of a program without deferred equations."""
    values, dropped = deferred.values, deferred.dropped
    remaining = [number for number in range(len(jaxpr.eqns)) if number not in values and number not in dropped]
    eqns = [jaxpr.eqns[number] for number in remaining]
    atoms = [*deferred.originals([x for eqn in eqns for x in eqn.invars])]
    rows = {i: row for i, atom in enumerate(atoms) if (row := deferred.rows.get(atom))} if deferred.rows else {}
    known: dict[Hashable, int] = {}
    numbers = _array([known.setdefault(key, len(known)) for key in _keys(atoms, rows)])
    makers, results = [values[numbers] for values in _makers(eqns, known)]
    late = _last_needed(jaxpr, eqns, deferred)
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
        eqns, _array([labels[number] for number in remaining]), _array([0, *accumulate(counts)]), *_owners(counts),
        atoms, numbers, makers, results, lines, positions,
    )  # fmt: skip


def _makers(eqns: Sequence[JaxprEqn], numbers: Mapping[Hashable, int]) -> tuple[Integers, Integers]:
    """Returns for each operand number the equation that makes it, and its number among that equation's results."""
    unused = len(numbers)
    found = [numbers.get(var, unused) for eqn in eqns for var in eqn.outvars]
    makers, results = np.full(unused + 1, OUTSIDE), np.zeros(unused + 1, np.int64)
    makers[found], results[found] = _owners([len(eqn.outvars) for eqn in eqns])
    return makers[:-1], results[:-1]


def _keys(atoms: Sequence[Atom], rows: Mapping[int, Row]) -> list[Hashable]:
    """Returns keys that are equal for the same variable, literal, or row of an array."""
    # The key of a literal is computed once per object: a number of the user's program is one object in all iterations.
    literals = {(id(x.val), x.aval): x for x in atoms if type(x) is Literal}
    key_of = {same: literal_key(x) for same, x in literals.items()}
    keys: list[Hashable] = [key_of[id(x.val), x.aval] if type(x) is Literal else x for x in atoms]
    for i, row in rows.items():
        keys[i] = row
    return keys


def _last_needed(jaxpr: Jaxpr, eqns: Sequence[JaxprEqn], deferred: Deferred) -> dict[Atom, int]:
    """Returns for each deferred variable the last equation of the table that it needs."""
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


def _owners(counts: Sequence[int]) -> tuple[Integers, Integers]:
    """Returns for each operand or result its equation, and its number in the equation, given their counts."""
    sizes = _array(counts)
    owners = np.repeat(np.arange(len(counts)), sizes)
    return owners, np.arange(len(owners)) - (np.cumsum(sizes) - sizes)[owners]


def _array(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
