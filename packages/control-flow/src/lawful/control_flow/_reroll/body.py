"""The body of the loop that a run of turns becomes: its inputs, and its equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lawful.control_flow._reroll.runs import Run
from lawful.control_flow._reroll.table import Table
from lawful.core import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from lawful.ops import convert_element_type_p


class Place(NamedTuple):
    """A result of a turn: which of its equations, and which result of that."""

    eqn: int
    result: int


@dataclass(slots=True)
class Register:
    """A part of the carry that hands on what one equation gives, for as many turns as it is needed.

    Attributes:
      place: what it hands on.
      aval: its type. First values may differ from it in weakness.
      inits: what stands for that one turn before the first, two turns before, ….
      numbers: of these, equal for the same value.
      invars: the inputs of the body, for what was given one turn ago, two turns ago, ….
      inner: the same, as weak as that is.
    """

    place: Place
    aval: ShapedArray
    inits: list[Atom] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    invars: list[Var] = field(default_factory=list)
    inner: list[Var] = field(default_factory=list)


@dataclass(slots=True)
class Slices:
    """What is another value in each turn.

    Attributes:
      atoms: these values.
      invar: the input of the body.
      inner: the same, as weak as the values are.
    """

    atoms: Sequence[Atom]
    invar: Var
    inner: Var


class Body:
    """A body that is being written.

    Attributes:
      eqns: its equations.
      results: what they give.
      consts: the operands that are the same in each turn.
      registers: those that are made some turns before.
      slices: those that come from elsewhere.
    """

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.results: dict[Place, Var] = {}
        self.consts: dict[Atom, Var] = {}
        self.registers: dict[tuple[object, ...], Register] = {}
        self.slices: dict[tuple[int, ...], Slices] = {}
        self._conversions: dict[Var, Var] = {}

    def const(self, atom: Atom) -> Atom:
        """Returns an operand that is the same in all turns."""
        return atom if type(atom) is Literal else self.consts.setdefault(atom, Var(atom.aval))

    def slice(self, numbers: tuple[int, ...], atoms: Sequence[Atom]) -> Var:
        """Returns an operand that is another one in each turn; equal numbers tell the same ones."""
        found = self.slices.get(numbers)
        if found is None:
            found = self.slices[numbers] = Slices(atoms, *self._entering(atoms[-1].aval))
        return found.inner

    def carried(self, place: Place, aval: ShapedArray, numbers: tuple[int, ...], inits: Sequence[Atom]) -> Var:
        """Returns an operand that an equation gave as many turns before as there are first values.

        Args:
          place: the equation and the result.
          aval: its type.
          numbers: of the first values; those that are equal share a register.
          inits: the values in the first turns.
        """
        register = self.registers.setdefault((place, numbers[-1]), Register(place, aval))
        if any([a != b for a, b in zip(register.numbers, reversed(numbers), strict=False)]):
            register = self.registers.setdefault((place, numbers), Register(place, aval))
        for turn in range(len(register.inits), len(inits)):
            self.lengthen(register, numbers[-1 - turn], inits[-1 - turn])
        return register.inner[len(inits) - 1]

    def lengthen(self, register: Register, number: int, init: Atom) -> None:
        """Makes a register hand on its value for one turn more."""
        invar, inner = self._entering(register.aval)
        register.inits.append(init)
        register.numbers.append(number)
        register.invars.append(invar)
        register.inner.append(inner)

    def _entering(self, aval: ShapedArray) -> tuple[Var, Var]:
        """Returns an input, which is strong as carries and slices are, and the value as weak as a type is."""
        invar = Var(aval.update(weak_type=False))
        return invar, self.converted(invar, aval.weak_type)

    def converted(self, var: Var, weak: bool) -> Var:
        """Returns a value, weak or strong."""
        if var.aval.weak_type == weak:
            return var
        out = self._conversions.get(var)
        if out is None:
            out = self._conversions[var] = Var(var.aval.update(weak_type=weak))
            params = {"new_dtype": var.aval.dtype, "weak_type": weak}
            self.eqns.append(JaxprEqn(convert_element_type_p, [var], [out], params))
        return out

    def close(self, stacked: Sequence[Place], name: str) -> ClosedJaxpr:
        """Returns the body, which gives the carry and the results at some places."""
        outvars = []
        for register in self.registers.values():
            outvars += [self.converted(self.results[register.place], False), *register.invars[:-1]]
        outvars += [self.converted(self.results[place], False) for place in stacked]
        carry = [var for register in self.registers.values() for var in register.invars]
        invars = [*self.consts.values(), *carry, *[each.invar for each in self.slices.values()]]
        return ClosedJaxpr(Jaxpr((), invars, self.eqns, outvars, name=name))


def body_of(table: Table, run: Run) -> Body:
    """Returns the equations of one turn of a run, with operands from outside, from the turn, or from turns before.

    It is the last turn. What turns take and give may differ in weakness, and the first ones take what the user gave.
    """
    body = Body()
    makers, results, numbers = (run.rows(table, values) for values in (table.makers, table.results, table.numbers))
    inside = makers >= run.start
    made = inside.any(0)
    delays = inside.argmax(0)
    columns = np.arange(makers.shape[1])
    # The place of what is made in the run, by the first turn that uses it.
    places = ((makers[delays, columns] - run.start) % run.period).tolist()
    of_place = results[delays, columns].tolist()
    same = (numbers == numbers[0]).all(0).tolist()
    operands = run.operands(table)
    column = 0
    for at, eqn in enumerate(table.eqns[run.end - run.period : run.end]):
        invars: list[Atom] = []
        for operand in eqn.invars:
            atoms = table.atoms[operands.start + column : operands.stop : makers.shape[1]]
            if made[column]:
                place, delay = Place(places[column], of_place[column]), int(delays[column])
                firsts, aval = tuple(numbers[:delay, column].tolist()), atoms[-1].aval
                value = body.carried(place, aval, firsts, atoms[:delay]) if delay else body.results[place]
                invars.append(body.converted(value, operand.aval.weak_type))
            elif same[column]:
                invars.append(body.const(operand))
            else:
                value = body.slice(tuple(numbers[:, column].tolist()), atoms)
                invars.append(body.converted(value, operand.aval.weak_type))
            column += 1
        outvars = [Var(var.aval) for var in eqn.outvars]
        body.eqns.append(eqn.replace(invars=invars, outvars=outvars))
        body.results.update({Place(at, i): var for i, var in enumerate(outvars)})
    return body
