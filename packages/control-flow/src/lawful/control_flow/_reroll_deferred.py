"""What is taken out of a program while its loops are looked for: slices, and sums of what belongs to slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lawful.control_flow._reroll_rows import Row, deferred_slices
from lawful.control_flow._reroll_sums import RowSum, deferred_sums
from lawful.core import Atom, Jaxpr, JaxprEqn


@dataclass(frozen=True, slots=True)
class Deferred:
    """What is written only where it is needed.

    Attributes:
      rows: the variables that are rows of arrays.
      values: by its number in the program, the equation that gives such rows, or the sum that stands for it.
      dropped: the numbers of equations that are a part of a sum.
    """

    rows: dict[Atom, Row] = field(default_factory=dict)
    values: dict[int, JaxprEqn | RowSum] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)

    def operands(self) -> Iterator[Atom]:
        """Yields what all of it is made of."""
        for value in self.values.values():
            yield from value.operands if isinstance(value, RowSum) else value.invars


def deferred(jaxpr: Jaxpr, labels: Sequence[int], least: int) -> Deferred:
    """Returns what can be taken out of a program.

    Args:
      jaxpr: the program.
      labels: of its equations.
      least: how many rows an array has at least.
    """
    rows, eqns = deferred_slices(jaxpr, labels, least)
    sums, dropped = deferred_sums(jaxpr, least)
    return Deferred(rows, {**eqns, **sums}, dropped)
