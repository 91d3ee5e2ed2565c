"""The body of the loop that replaces a run of iterations: its inputs and its equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lawful.control_flow._reroll.runs import Run
from lawful.control_flow._reroll.table import Table
from lawful.core import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from lawful.ops import convert_element_type_p


class ResultRef(NamedTuple):
    """A result of an iteration: the number of the equation in the iteration, and of the result in the equation."""

    eqn: int
    result: int


@dataclass(slots=True)
class Register:
    """A part of the carry that holds one result of the last iterations, for as many iterations as it is used later.

    Attributes:
      ref: the result.
      aval: its type. Initial values may differ from it in weakness.
      inits: the value one iteration before the first, two iterations before, ….
      numbers: the numbers of the initial values, equal for equal values.
      invars: the inputs of the body: the result of one iteration ago, of two iterations ago, ….
      inner: these inputs, with the weakness of the type.
    """

    ref: ResultRef
    aval: ShapedArray
    inits: list[Atom] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    invars: list[Var] = field(default_factory=list)
    inner: list[Var] = field(default_factory=list)


@dataclass(slots=True)
class Slices:
    """An operand with a different value in each iteration.

    Attributes:
      atoms: the values.
      invar: the input of the body.
      inner: the input, with the weakness of the values.
    """

    atoms: Sequence[Atom]
    invar: Var
    inner: Var


class Body:
    """A body that is being written.

    Attributes:
      eqns: its equations.
      results: their results.
      consts: the loop-invariant operands.
      registers: the operands that are results of earlier iterations.
      slices: the operands that differ between iterations and are computed outside of the loop.
    """

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.results: dict[ResultRef, Var] = {}
        self.consts: dict[Atom, Var] = {}
        self.registers: dict[tuple[object, ...], Register] = {}
        self.slices: dict[tuple[int, ...], Slices] = {}
        self._conversions: dict[Var, Var] = {}

    def const(self, atom: Atom) -> Atom:
        """Returns a loop-invariant operand."""
        return atom if type(atom) is Literal else self.consts.setdefault(atom, Var(atom.aval))

    def slice(self, numbers: tuple[int, ...], atoms: Sequence[Atom]) -> Var:
        """Returns an operand with a different value in each iteration; equal numbers share an input."""
        found = self.slices.get(numbers)
        if found is None:
            found = self.slices[numbers] = Slices(atoms, *self._input(atoms[-1].aval))
        return found.inner

    def carried(self, ref: ResultRef, aval: ShapedArray, numbers: tuple[int, ...], inits: Sequence[Atom]) -> Var:
        """Returns an operand that is a result of an earlier iteration: as many before as there are initial values.

        Args:
          ref: the result.
          aval: its type.
          numbers: the numbers of the initial values; operands with equal ones share a register.
          inits: the values in the first iterations.
        """
        register = self.registers.setdefault((ref, numbers[-1]), Register(ref, aval))
        if any([a != b for a, b in zip(register.numbers, reversed(numbers), strict=False)]):
            register = self.registers.setdefault((ref, numbers), Register(ref, aval))
        for i in range(len(register.inits), len(inits)):
            self.lengthen(register, numbers[-1 - i], inits[-1 - i])
        return register.inner[len(inits) - 1]

    def lengthen(self, register: Register, number: int, init: Atom) -> None:
        """Makes a register hold the result of one more iteration."""
        invar, inner = self._input(register.aval)
        register.inits.append(init)
        register.numbers.append(number)
        register.invars.append(invar)
        register.inner.append(inner)

    def _input(self, aval: ShapedArray) -> tuple[Var, Var]:
        """Returns a new input, which is strong like carries and slices, and its value with the weakness of a type."""
        invar = Var(aval.update(weak_type=False))
        return invar, self.converted(invar, aval.weak_type)

    def converted(self, var: Var, weak: bool) -> Var:
        """Returns a value converted to weak or strong."""
        if var.aval.weak_type == weak:
            return var
        out = self._conversions.get(var)
        if out is None:
            out = self._conversions[var] = Var(var.aval.update(weak_type=weak))
            params = {"new_dtype": var.aval.dtype, "weak_type": weak}
            self.eqns.append(JaxprEqn(convert_element_type_p, [var], [out], params))
        return out

    def close(self, stacked: Sequence[ResultRef], name: str) -> ClosedJaxpr:
        """Returns the body, whose outputs are the carry and the results to stack."""
        outvars = []
        for register in self.registers.values():
            outvars += [self.converted(self.results[register.ref], False), *register.invars[:-1]]
        outvars += [self.converted(self.results[ref], False) for ref in stacked]
        carry = [var for register in self.registers.values() for var in register.invars]
        invars = [*self.consts.values(), *carry, *[each.invar for each in self.slices.values()]]
        return ClosedJaxpr(Jaxpr((), invars, self.eqns, outvars, name=name))


def body_of(table: Table, run: Run) -> Body:
    """Returns the equations of one iteration of a run, as the body of a loop.

    It is the last iteration: iterations may differ in weakness, and the first ones have the user's initial values as
    operands.
    """
    body = Body()
    makers, results, numbers = (run.rows(table, values) for values in (table.makers, table.results, table.numbers))
    inside = makers >= run.start
    made = inside.any(0)
    delays = inside.argmax(0)
    columns = np.arange(makers.shape[1])
    # The equation and the result that make an operand, in the first iteration in which it is made in the run.
    maker_eqns = ((makers[delays, columns] - run.start) % run.period).tolist()
    maker_results = results[delays, columns].tolist()
    same = (numbers == numbers[0]).all(0).tolist()
    operands = run.operands(table)
    column = 0
    for at, eqn in enumerate(table.eqns[run.end - run.period : run.end]):
        invars: list[Atom] = []
        for operand in eqn.invars:
            atoms = table.atoms[operands.start + column : operands.stop : makers.shape[1]]
            if made[column]:
                ref, delay = ResultRef(maker_eqns[column], maker_results[column]), int(delays[column])
                firsts, aval = tuple(numbers[:delay, column].tolist()), atoms[-1].aval
                value = body.carried(ref, aval, firsts, atoms[:delay]) if delay else body.results[ref]
                invars.append(body.converted(value, operand.aval.weak_type))
            elif same[column]:
                invars.append(body.const(operand))
            else:
                value = body.slice(tuple(numbers[:, column].tolist()), atoms)
                invars.append(body.converted(value, operand.aval.weak_type))
            column += 1
        outvars = [Var(var.aval) for var in eqn.outvars]
        body.eqns.append(eqn.replace(invars=invars, outvars=outvars))
        body.results.update({ResultRef(at, i): var for i, var in enumerate(outvars)})
    return body
