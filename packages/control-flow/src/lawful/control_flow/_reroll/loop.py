"""A run of turns, written as one ``scan``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from lawful.control_flow._loops.bodies import stack_aval
from lawful.control_flow._reroll.body import Body, Place, Register, body_of
from lawful.control_flow._reroll.rows import is_view, stack_rows
from lawful.control_flow._reroll.runs import Run
from lawful.control_flow._reroll.table import OUTSIDE, Table
from lawful.control_flow._reroll.writer import Writer, pieces
from lawful.control_flow._scan.primitive import scan_p
from lawful.core import Atom, JaxprEqn, Literal, ShapedArray, Var
from lawful.ops import broadcast_in_dim_p

# The number of a first value that nobody uses.
_NEVER_USED: Final = -1


@dataclass(frozen=True, slots=True)
class Uses:
    """What of a run is used outside of it.

    Attributes:
      turns: for each result of a turn that is used, in which turns it is made.
      single: the variables that are used one by one, and not only stacked for another loop.
    """

    turns: Mapping[Place, Sequence[int]]
    single: set[Atom]


def write_loop(writer: Writer, table: Table, run: Run, uses: Uses, name: str) -> int:
    """Writes a run, tells the writer what became of its results, and returns the number of equations of its body.

    Args:
      writer: what is written so far.
      table: the program.
      run: which turns.
      uses: what is used of it.
      name: what the body is called.
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
        for place in uses.turns:
            result.rows(place, writer.reshape(stacks[0], (run.turns, *body.results[place].aval.shape)))
        return 0
    registers = _registers(writer, body, run, uses)
    stacked = [
        place
        for place, turns in uses.turns.items()
        if place not in registers or min(turns) < run.turns - len(registers[place].inits)
    ]
    consts = [writer.use(atom) for atom in body.consts]
    carry = [writer.as_strong(writer.use(x)) for register in body.registers.values() for x in register.inits]
    closed = body.close(stacked, name)
    finals = [Var(aval) for aval in closed.out_avals[: len(carry)]]
    ys = [Var(stack_aval(aval, run.turns)) for aval in closed.out_avals[len(carry) :]]
    params = {
        "jaxpr": closed, "num_consts": len(consts), "num_carry": len(carry), "length": run.turns,
        "reverse": reverse, "unroll": 1, "checkpoints": None,
    }  # fmt: skip
    writer.eqns.append(JaxprEqn(scan_p, [*consts, *carry, *stacks], [*finals, *ys], params, writer.source))
    ends = dict(zip([var for each in body.registers.values() for var in each.invars], finals, strict=True))
    for place, y in zip(stacked, ys, strict=True):
        result.rows(place, y)
    for place, register in registers.items():
        result.finals(place, [ends[var] for var in register.invars])
    return len(closed.eqns)


def _direction(writer: Writer, atoms: Sequence[Atom]) -> int:
    """Returns by how many steps more a list of values follows an array forwards than backwards."""
    found = pieces(atoms, writer.rows)
    return sum([(end - start - 1) * (1 if step > 0 else -1) for start, end, step in found if step])


def _stacks(writer: Writer, body: Body, reverse: bool) -> list[Var]:
    """Returns the arrays that are sliced."""
    lists = [each.atoms[::-1] if reverse else each.atoms for each in body.slices.values()]
    writer.ready(writer.stack_needs([atom for atoms in lists for atom in atoms]))
    return [writer.stack(atoms) for atoms in lists]


def _registers(writer: Writer, body: Body, run: Run, uses: Uses) -> dict[Place, Register]:
    """Returns the registers that hand on what is used outside, and makes one where only the last turn's is used."""
    registers = {register.place: register for register in body.registers.values() if register.place in uses.turns}
    for place, turns in uses.turns.items():
        if place not in registers and min(turns) == run.turns - 1:
            # It has no stack, of which the last row would be taken.
            aval = body.results[place].aval
            register = registers[place] = body.registers[place, _NEVER_USED] = Register(place, aval)
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
    """What becomes of the results of a run."""

    writer: Writer
    table: Table
    run: Run
    uses: Uses
    reverse: bool

    def variable(self, place: Place, turn: int) -> Var:
        """Returns what a result was called before."""
        return self.table.eqns[self.run.start + turn * self.run.period + place.eqn].outvars[place.result]

    def same(self, eqns: Sequence[JaxprEqn]) -> None:
        """Writes the first turn only, since all others compute the same."""
        for eqn in eqns:
            self.writer.ready(eqn.invars)
            self.writer.eqns.append(self.writer.renamed(eqn))
        for place, turns in self.uses.turns.items():
            first = self.variable(place, 0)
            for var in [self.variable(place, turn) for turn in turns if turn]:
                self.writer.values[var] = self.writer.as_weak(first, var.aval)

    def finals(self, place: Place, values: Sequence[Var]) -> None:
        """Tells the writer the last values of a register, the last one first. They may be rows of a stack, too."""
        for turn in self.uses.turns[place]:
            age = self.run.turns - 1 - turn
            if age < len(values):
                var = self.variable(place, turn)
                self.writer.waiting.pop(var, None)
                self.writer.values[var] = self.writer.as_weak(values[age], var.aval)

    def rows(self, place: Place, stack: Var) -> None:
        """Tells the writer that the results are the rows of a stack."""
        turns = self.uses.turns[place]
        at = [self.run.turns - 1 - turn for turn in turns] if self.reverse else turns
        rows = stack_rows(stack, dict(zip([self.variable(place, turn) for turn in turns], at, strict=True)))
        self.writer.rows.update(rows)
        self.writer.waiting.update(rows)
        self.writer.wanted[stack] += len(self.uses.single.intersection(rows))


def outside_uses(table: Table, runs: Sequence[Run], others: Sequence[Atom], single: set[Atom]) -> list[Uses]:
    """Returns what of each run is used outside of it.

    Args:
      table: the program.
      runs: the runs, in order.
      others: what is used apart from the equations of the table.
      single: the variables that are used one by one.
    """
    of_eqn = np.full(len(table.eqns) + 1, OUTSIDE)
    for number, run in enumerate(runs):
        of_eqn[run.start : run.end] = number
    givers = of_eqn[table.makers]  # the last one for what no equation gives
    used = {table.atoms[i] for i in np.flatnonzero((givers != OUTSIDE) & (givers != of_eqn[table.users])).tolist()}
    used.update(others)
    return [Uses(_used_turns(table, run, used), single) for run in runs]


def _used_turns(table: Table, run: Run, used: AbstractSet[Atom]) -> dict[Place, list[int]]:
    """Returns for each result of a turn in which turns it is used, first those that are used in the first turns."""
    eqns = table.eqns[run.start : run.end]
    places = [Place(at, i) for at, eqn in enumerate(eqns[: run.period]) for i in range(len(eqn.outvars))]
    of_turns = np.array([var in used for eqn in eqns for var in eqn.outvars]).reshape(run.turns, -1)
    turns = {place: np.flatnonzero(of_turns[:, i]).tolist() for i, place in enumerate(places)}
    return dict(sorted([item for item in turns.items() if item[1]], key=lambda item: item[1][0]))
