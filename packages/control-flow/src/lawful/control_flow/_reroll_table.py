"""A program as arrays of numbers, in which repetitions are looked for by whole arrays at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll_deferred import Deferred
from lawful.control_flow._reroll_labels import Labels, literal_key
from lawful.control_flow._reroll_rows import Row
from lawful.control_flow._reroll_sums import RowSum
from lawful.core import Atom, Jaxpr, JaxprEqn, Literal, Var

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
      places: the number of each in the program.
      labels: of each.
      first: where the operands of each begin; and last, how many operands there are.
      atoms: the operands.
      numbers: of each operand: equal for the same variable, or the same literal.
      makers: for each operand the equation that gives it, or the last one that it needs.
      results: for each operand which result of that equation it is.
      lanes: for each operand where it lies among those that are next to each other, if it is a row or a result.
    """

    eqns: Sequence[JaxprEqn]
    places: Sequence[int]
    labels: Integers
    first: Integers
    atoms: Sequence[Atom]
    numbers: Integers
    makers: Integers
    results: Integers
    lanes: Integers


def table_of(jaxpr: Jaxpr, labels: Labels, deferred: Deferred) -> Table:
    """Returns the table of a program without what is deferred."""
    eqns: list[JaxprEqn] = []
    places: list[int] = []
    atoms: list[Atom] = []
    makers: list[int] = []
    results: list[int] = []
    made: dict[Var, tuple[int, int]] = {}
    nothing = (OUTSIDE, 0)
    for number, eqn in enumerate(jaxpr.eqns):
        value = deferred.values.get(number)
        if value is not None:
            operands = value.operands if isinstance(value, RowSum) else value.invars
            last = max([made.get(x, nothing)[0] for x in operands if type(x) is Var], default=OUTSIDE)
            made.update([(var, (last, DEFERRED)) for var in eqn.outvars])
        elif number not in deferred.dropped:
            found = [nothing if type(x) is Literal else made.get(x, nothing) for x in eqn.invars]  # type: ignore[arg-type]
            atoms += eqn.invars
            makers += [maker for maker, _ in found]
            results += [result for _, result in found]
            made.update([(var, (len(eqns), i)) for i, var in enumerate(eqn.outvars)])
            eqns.append(eqn)
            places.append(number)
    first = [0, *accumulate(len(eqn.invars) for eqn in eqns)]
    rows = deferred.rows
    lanes = [rows[x].start if type(x) is Var and x in rows else maker for x, maker in zip(atoms, makers, strict=True)]
    return Table(
        eqns, places, _array([labels.of(eqn) for eqn in eqns]), _array(first), atoms, _array(_numbers(atoms, rows)),
        _array(makers), _array(results), _array(lanes),
    )  # fmt: skip


def _numbers(atoms: Sequence[Atom], rows: Mapping[Var, Row]) -> list[int]:
    """Returns numbers that are equal for the same variable, literal, or row of an array."""
    known: dict[Hashable, int] = {}
    keys: Iterator[Hashable] = (literal_key(x) if type(x) is Literal else rows.get(x, x) for x in atoms)  # type: ignore[arg-type]
    return [known.setdefault(key, len(known)) for key in keys]


def _array(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
