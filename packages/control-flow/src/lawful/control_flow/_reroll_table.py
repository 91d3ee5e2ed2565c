"""A program as arrays of numbers, in which repetitions are looked for by whole arrays at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll_deferred import Deferred
from lawful.control_flow._reroll_labels import literal_key
from lawful.control_flow._reroll_rows import Row
from lawful.control_flow._reroll_sums import RowSum
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
    atoms: Sequence[Atom]
    numbers: Integers
    makers: Integers
    results: Integers
    lines: Integers
    positions: Integers


def table_of(jaxpr: Jaxpr, labels: Sequence[int], deferred: Deferred) -> Table:
    """Returns the table of a program, whose equations have these labels, without what is deferred."""
    eqns: list[JaxprEqn] = []
    places: list[int] = []
    givers: list[tuple[int, int]] = []
    made: dict[Atom, tuple[int, int]] = {}
    nothing = (OUTSIDE, 0)
    values, dropped = deferred.values, deferred.dropped
    for number, eqn in enumerate(jaxpr.eqns):
        value = values.get(number)
        if value is None:
            if number not in dropped:
                at = len(eqns)
                givers += [made.get(x, nothing) for x in eqn.invars]
                for result, var in enumerate(eqn.outvars):
                    made[var] = (at, result)
                eqns.append(eqn)
                places.append(number)
        elif isinstance(value, JaxprEqn) and deferred.is_conversion(value):
            (var,) = value.outvars
            made[var] = made.get(deferred.converted[var], nothing)
        else:
            operands = value.operands if isinstance(value, RowSum) else value.invars
            last = max([made.get(x, nothing)[0] for x in operands], default=OUTSIDE)
            made.update([(var, (last, DEFERRED)) for var in eqn.outvars])
    atoms = [*deferred.originals([x for eqn in eqns for x in eqn.invars])]
    first = [0, *accumulate([len(eqn.invars) for eqn in eqns])]
    makers, results = _array([*chain.from_iterable(givers)]).reshape(-1, 2).T.copy()
    rows = {i: row for i, atom in enumerate(atoms) if (row := deferred.rows.get(atom))} if deferred.rows else {}
    lines, positions = np.zeros_like(makers), makers.copy()
    known: dict[Hashable, int] = {}
    for i, row in rows.items():
        lines[i] = known.setdefault((row.array, row.line), len(known) + 1)
        positions[i] = row.start
    return Table(
        eqns, _array([labels[place] for place in places]), _array(first), atoms, _array(_numbers(atoms, rows)),
        makers, results, lines, positions,
    )  # fmt: skip


def _numbers(atoms: Sequence[Atom], rows: dict[int, Row]) -> list[int]:
    """Returns numbers that are equal for the same variable, literal, or row of an array."""
    # A number of the user's program is one object, wherever a loop puts it.
    literals = {(id(x.val), x.aval): x for x in atoms if type(x) is Literal}
    key_of = {same: literal_key(x) for same, x in literals.items()}
    keys: list[Hashable] = [key_of[id(x.val), x.aval] if type(x) is Literal else x for x in atoms]
    for i, row in rows.items():
        keys[i] = row
    known: dict[Hashable, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def _array(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
