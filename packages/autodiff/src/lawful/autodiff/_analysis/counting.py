"""Counts of the operations and bytes of a jaxpr, equation by equation, those of inner jaxprs included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lawful.core import Atom, Jaxpr, JaxprEqn, ShapedArray, SourceLine, jaxprs_in_params


class Counted(NamedTuple):
    """An equation with its counts.

    Attributes:
      eqn: the equation.
      times: how often it runs.
      operations: of all these times; None if its primitive has no rule that counts them.
      bytes: of its operands and results, all these times.
    """

    eqn: JaxprEqn
    times: int
    operations: int | None
    bytes: int

    @property
    def source(self) -> SourceLine | None:
        """The user's line."""
        return self.eqn.source


class Unknown:
    """The parts of a program that the counts leave out."""

    def __init__(self) -> None:
        #: Primitives without a rule for operations.
        self.primitives: set[str] = set()
        #: Whether a loop whose trip count is not known counts as one iteration.
        self.loops = False


def nbytes(aval: ShapedArray) -> int:
    """Returns the size of a value in bytes."""
    return aval.size * aval.dtype.itemsize


def counted_equations(jaxpr: Jaxpr, unknown: Unknown, times: int = 1) -> Iterator[Counted]:
    """Yields the equations that compute: calls, branches and loops are replaced by their equations.

    A conditional counts its most expensive branch. A loop counts once for each iteration.

    Args:
      jaxpr: the program.
      unknown: is told what has no count.
      times: how often the program runs.
    """
    for eqn in jaxpr.eqns:
        rule = eqn.primitive.rules.get("operations")
        if rule is None and _runs_jaxprs(eqn):
            yield from _within(eqn, unknown, times)
            continue
        declaration = eqn.primitive.declaration
        if rule is not None:
            operations = int(rule(eqn))
        elif declaration is not None and declaration.pointwise:
            operations = max((var.aval.size for var in eqn.outvars), default=0)
        else:
            unknown.primitives.add(eqn.primitive.name)
            yield Counted(eqn, times, None, times * _moved(eqn))
            continue
        yield Counted(eqn, times, times * operations, times * _moved(eqn))


def _runs_jaxprs(eqn: JaxprEqn) -> bool:
    """Whether an equation runs jaxprs, and it is known which."""
    rules = eqn.primitive.rules
    return "runs" in rules or ("expand" in rules and len([*jaxprs_in_params(eqn.params)]) == 1)


def _moved(eqn: JaxprEqn) -> int:
    distinct: dict[int, Atom] = {id(atom): atom for atom in [*eqn.invars, *eqn.outvars]}
    return sum(nbytes(atom.aval) for atom in distinct.values())


def _within(eqn: JaxprEqn, unknown: Unknown, times: int) -> Iterator[Counted]:
    trips = eqn.primitive.rules.get("trips")
    if trips is not None:
        times *= int(trips(eqn))
    runs = eqn.primitive.rules.get("runs")
    found: Sequence[Any] = [] if runs is None else runs(eqn)
    if trips is None and any(run.fed_back for run in found):
        unknown.loops = True
    jaxprs = [run.jaxpr for run in found] or [*jaxprs_in_params(eqn.params)]
    branches = [run.jaxpr for run in found if run.results] if found else jaxprs
    if len(branches) > 1 and found:
        lists = [[*counted_equations(branch, unknown, times)] for branch in branches]
        yield from max(lists, key=lambda each: sum(one.operations or 0 for one in each))
        jaxprs = [jaxpr for jaxpr in jaxprs if jaxpr not in branches]
    for jaxpr in jaxprs:
        yield from counted_equations(jaxpr, unknown, times)
