"""A run of iterations, written as one ``scan``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from lawful.control_flow._loops.bodies import stack_aval
from lawful.control_flow._reroll.body import Body, Register, ResultRef, body_of
from lawful.control_flow._reroll.rows import is_view, stack_rows
from lawful.control_flow._reroll.runs import Run
from lawful.control_flow._reroll.table import OUTSIDE, Table
from lawful.control_flow._reroll.writer import Writer, pieces
from lawful.control_flow._scan.primitive import scan_p
from lawful.core import Atom, JaxprEqn, Literal, ShapedArray, Var
from lawful.ops import broadcast_in_dim_p

# The number of an initial value that is not used.
_NEVER_USED: Final = -1


@dataclass(frozen=True, slots=True)
class Uses:
    """The results of a run that are used outside of it.

    Attributes:
      iterations: for each used result, the iterations whose result is used.
      single: the variables that are used individually, not only stacked for another loop.
    """

    iterations: Mapping[ResultRef, Sequence[int]]
    single: set[Atom]


def write_loop(writer: Writer, table: Table, run: Run, uses: Uses, name: str) -> int:
    """Writes a run as a loop, registers its results with the writer, and returns the number of equations of its body.

    Args:
      writer: the program written so far.
      table: the program.
      run: the iterations.
      uses: the results that are used outside of the run.
      name: the name of the body.
    """
    writer.source = table.eqns[run.start].source
    body = body_of(table, run)
    reverse = sum([_direction(writer, each.atoms) for each in body.slices.values()]) < 0
    stacks = _stacks(writer, body, reverse)
    result = _Results(writer, table, run, uses, reverse)
    if not stacks and not body.registers:
        result.same(table.eqns[run.start : run.start + run.period])
        return 0
    if run.period == 1 and is_view(table.eqns[run.start]) and stacks:
        for ref in uses.iterations:
            result.rows(ref, writer.reshape(stacks[0], (run.trip_count, *body.results[ref].aval.shape)))
        return 0
    registers = _registers(writer, body, run, uses)
    stacked = [
        ref
        for ref, used in uses.iterations.items()
        if ref not in registers or min(used) < run.trip_count - len(registers[ref].inits)
    ]
    consts = [writer.use(atom) for atom in body.consts]
    carry = [writer.as_strong(writer.use(x)) for register in body.registers.values() for x in register.inits]
    closed = body.close(stacked, name)
    finals = [Var(aval) for aval in closed.out_avals[: len(carry)]]
    ys = [Var(stack_aval(aval, run.trip_count)) for aval in closed.out_avals[len(carry) :]]
    params = {
        "jaxpr": closed, "num_consts": len(consts), "num_carry": len(carry), "length": run.trip_count,
        "reverse": reverse, "unroll": 1, "checkpoints": None,
    }  # fmt: skip
    writer.eqns.append(JaxprEqn(scan_p, [*consts, *carry, *stacks], [*finals, *ys], params, writer.source))
    ends = dict(zip([var for each in body.registers.values() for var in each.invars], finals, strict=True))
    for ref, y in zip(stacked, ys, strict=True):
        result.rows(ref, y)
    for ref, register in registers.items():
        result.finals(ref, [ends[var] for var in register.invars])
    return len(closed.eqns)


def _direction(writer: Writer, atoms: Sequence[Atom]) -> int:
    """Returns how many steps of a list of values go forwards through an array, minus those that go backwards."""
    found = pieces(atoms, writer.rows)
    return sum([(end - start - 1) * (1 if step > 0 else -1) for start, end, step in found if step])


def _stacks(writer: Writer, body: Body, reverse: bool) -> list[Var]:
    """Returns the arrays that are sliced."""
    lists = [each.atoms[::-1] if reverse else each.atoms for each in body.slices.values()]
    writer.ready(writer.stack_needs([atom for atoms in lists for atom in atoms]))
    return [writer.stack(atoms) for atoms in lists]


def _registers(writer: Writer, body: Body, run: Run, uses: Uses) -> dict[ResultRef, Register]:
    """Returns the registers of results that are used outside of the run.

    A result of which only the last value is used gets a register too, instead of a stack.
    """
    registers = {register.ref: register for register in body.registers.values() if register.ref in uses.iterations}
    for ref, used in uses.iterations.items():
        if ref not in registers and min(used) == run.trip_count - 1:
            aval = body.results[ref].aval
            register = registers[ref] = body.registers[ref, _NEVER_USED] = Register(ref, aval)
            body.lengthen(register, _NEVER_USED, _zeros(writer, aval))
    return registers


def _zeros(writer: Writer, aval: ShapedArray) -> Atom:
    zero = Literal(np.zeros((), aval.dtype)[()])
    if not aval.shape:
        return zero
    found: Var = writer.equation(broadcast_in_dim_p, zero, shape=aval.shape, broadcast_dimensions=())
    return found


@dataclass(frozen=True, slots=True)
class _Results:
    """Registers the results of a run with the writer."""

    writer: Writer
    table: Table
    run: Run
    uses: Uses
    reverse: bool

    def variable(self, ref: ResultRef, iteration: int) -> Var:
        """Returns the variable of a result in the original program."""
        return self.table.eqns[self.run.start + iteration * self.run.period + ref.eqn].outvars[ref.result]

    def same(self, eqns: Sequence[JaxprEqn]) -> None:
        """Writes the first iteration only, since all others compute the same values."""
        for eqn in eqns:
            self.writer.ready(eqn.invars)
            self.writer.eqns.append(self.writer.renamed(eqn))
        for ref, used in self.uses.iterations.items():
            first = self.variable(ref, 0)
            for var in [self.variable(ref, i) for i in used if i]:
                self.writer.values[var] = self.writer.as_weak(first, var.aval)

    def finals(self, ref: ResultRef, values: Sequence[Var]) -> None:
        """Registers the final values of a register, the last one first. They take precedence over rows of a stack."""
        for i in self.uses.iterations[ref]:
            age = self.run.trip_count - 1 - i
            if age < len(values):
                var = self.variable(ref, i)
                self.writer.waiting.pop(var, None)
                self.writer.values[var] = self.writer.as_weak(values[age], var.aval)

    def rows(self, ref: ResultRef, stack: Var) -> None:
        """Registers the results as rows of a stack."""
        used = self.uses.iterations[ref]
        at = [self.run.trip_count - 1 - i for i in used] if self.reverse else used
        rows = stack_rows(stack, dict(zip([self.variable(ref, i) for i in used], at, strict=True)))
        self.writer.rows.update(rows)
        self.writer.waiting.update(rows)
        self.writer.wanted[stack] += len(self.uses.single.intersection(rows))


def outside_uses(table: Table, runs: Sequence[Run], others: Sequence[Atom], single: set[Atom]) -> list[Uses]:
    """Returns, for each run, the results that are used outside of it.

    Args:
      table: the program.
      runs: the runs, in order.
      others: the operands of everything but the equations of the table.
      single: the variables that are used individually.
    """
    of_eqn = np.full(len(table.eqns) + 1, OUTSIDE)
    for number, run in enumerate(runs):
        of_eqn[run.start : run.end] = number
    made_in = of_eqn[table.makers]  # operands made by no equation index the last element
    used = {table.atoms[i] for i in np.flatnonzero((made_in != OUTSIDE) & (made_in != of_eqn[table.users])).tolist()}
    used.update(others)
    return [Uses(_used_iterations(table, run, used), single) for run in runs]


def _used_iterations(table: Table, run: Run, used: AbstractSet[Atom]) -> dict[ResultRef, list[int]]:
    """Returns the iterations in which each result is used, ordered by the first of them."""
    eqns = table.eqns[run.start : run.end]
    refs = [ResultRef(at, i) for at, eqn in enumerate(eqns[: run.period]) for i in range(len(eqn.outvars))]
    is_used = np.array([var in used for eqn in eqns for var in eqn.outvars]).reshape(run.trip_count, -1)
    iterations = {ref: np.flatnonzero(is_used[:, i]).tolist() for i, ref in enumerate(refs)}
    return dict(sorted([item for item in iterations.items() if item[1]], key=lambda item: item[1][0]))
