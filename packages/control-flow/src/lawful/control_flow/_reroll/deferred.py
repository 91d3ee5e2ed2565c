"""What is taken out of a program while its loops are looked for: it is written only where it is needed.

These are slices, sums of what belongs to slices, and conversions between weak and strong, which compute nothing.
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
    """What is written only where it is needed.

    Attributes:
      converted: the variables that are others with another weakness, and which others.
      rows: the variables that are rows of arrays.
      values: by its number in the program, the equation that gives such values, or the sum that stands for it.
      dropped: the numbers of equations that are a part of a sum.
    """

    converted: dict[Atom, Atom] = field(default_factory=dict)
    rows: dict[Atom, Row] = field(default_factory=dict)
    values: dict[int, JaxprEqn | RowSum] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)

    def operands(self) -> Iterator[Atom]:
        """Yields what all of it is made of; conversions are made of what they are made for."""
        for value in self.values.values():
            if isinstance(value, RowSum):
                yield from value.operands
            elif not self.is_conversion(value):
                yield from value.invars

    def is_conversion(self, eqn: JaxprEqn) -> bool:
        """Whether an equation that is taken out changes the weakness of a value, and nothing else."""
        return eqn.outvars[0] in self.converted

    def originals(self, atoms: Iterable[Atom]) -> Iterable[Atom]:
        """Returns for each operand what it is, but for its weakness."""
        return [self.converted.get(atom, atom) for atom in atoms] if self.converted else atoms


def deferred(jaxpr: Jaxpr, labels: Sequence[int], least: int) -> list[Deferred]:
    """Returns what can be taken out of a program: the possibilities.

    Args:
      jaxpr: the program.
      labels: of its equations.
      least: how many rows an array has at least.
    """
    conversions = _conversions(jaxpr)
    rows, eqns = deferred_slices(jaxpr, labels, least)
    sums, dropped = deferred_sums(jaxpr, least)
    if not (eqns or sums):
        return [conversions]
    # Rows that are taken out may be parts of a turn: of an array that the turn makes.
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
