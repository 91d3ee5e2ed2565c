"""Deferred equations: removed from a program during the search for loops, and written only where they are used.

These are slices, sums of padded rows, and conversions between weak and strong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lawful.control_flow._reroll.rows import Row, deferred_slices
from lawful.control_flow._reroll.sums import RowSum, deferred_sums
from lawful.core import Atom, Jaxpr, JaxprEqn, Var
from lawful.ops import convert_element_type_p


@dataclass(frozen=True, slots=True)
class Deferred:
    """The deferred equations of a program.

    Attributes:
      converted: maps variables that differ from another one only in weakness to that variable.
      rows: the variables that are rows of arrays.
      values: maps the number of a deferred equation to the equation, or to the sum of rows that replaces it.
      dropped: the numbers of equations that are a part of a sum.
    """

    converted: dict[Atom, Atom] = field(default_factory=dict)
    rows: dict[Atom, Row] = field(default_factory=dict)
    values: dict[int, JaxprEqn | RowSum] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)

    def operands(self) -> Iterator[Atom]:
        """Yields the operands of all deferred equations but conversions."""
        for value in self.values.values():
            if isinstance(value, RowSum):
                yield from value.operands
            elif not self.is_conversion(value):
                yield from value.invars

    def is_conversion(self, eqn: JaxprEqn) -> bool:
        """Whether a deferred equation only changes the weakness of a value."""
        return eqn.outvars[0] in self.converted

    def originals(self, atoms: Iterable[Atom]) -> Iterable[Atom]:
        """Returns each operand without conversions of its weakness."""
        return [self.converted.get(atom, atom) for atom in atoms] if self.converted else atoms


def deferred(jaxpr: Jaxpr, labels: Sequence[int], least: int) -> list[Deferred]:
    """Returns the alternatives of what to defer in a program.

    Args:
      jaxpr: the program.
      labels: the labels of its equations.
      least: the minimal number of rows of an array.
    """
    conversions = _conversions(jaxpr)
    rows, eqns = deferred_slices(jaxpr, labels, least)
    sums, dropped = deferred_sums(jaxpr, least)
    if not (eqns or sums):
        return [conversions]
    # Without deferred rows too: a row may belong to an array that is computed within the iteration.
    return [
        conversions,
        replace(conversions, rows=rows, values={**conversions.values, **eqns, **sums}, dropped=dropped),
    ]


def _conversions(jaxpr: Jaxpr) -> Deferred:
    converted: dict[Atom, Atom] = {}
    values: dict[int, JaxprEqn | RowSum] = {}
    for number, eqn in enumerate(jaxpr.eqns):
        if eqn.primitive is convert_element_type_p:
            (operand,) = eqn.invars
            if type(operand) is Var and operand.aval.dtype == eqn.params["new_dtype"]:
                converted[eqn.outvars[0]] = converted.get(operand, operand)
                values[number] = eqn
    return Deferred(converted, values=values)
