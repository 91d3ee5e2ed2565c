"""Rewriting of a program with all loops that are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lawful.control_flow._reduce.primitive import reduce_p
from lawful.control_flow._reduce.window_primitive import reduce_window_p
from lawful.control_flow._reroll.deferred import Deferred, deferred
from lawful.control_flow._reroll.labels import labels_of
from lawful.control_flow._reroll.loop import outside_uses, write_loop
from lawful.control_flow._reroll.runs import Run, runs_of
from lawful.control_flow._reroll.sums import RowSum
from lawful.control_flow._reroll.table import Table, table_of
from lawful.control_flow._reroll.writer import Writer
from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Var, get_aval, holds_constants, map_jaxprs, memoize
from lawful.ops import concatenate_p

# A program is rewritten only if it shrinks by at least 1/100. So all passes together cost at most 100 times the first.
_MIN_SHRINKAGE: Final = 100
# Compilers require straight-line jaxprs in these primitives.
_NOT_REROLLED: Final = (reduce_p, reduce_window_p)


@memoize
def rerolled(closed: ClosedJaxpr, least: int) -> ClosedJaxpr:
    """Returns a program in which all loops of at least ``least`` iterations are rolled, sub-jaxprs included."""
    while True:
        closed = _within(closed, least)
        smaller = _once(closed, least)
        if smaller is None:
            return closed
        closed = smaller


def _within(closed: ClosedJaxpr, least: int) -> ClosedJaxpr:
    """Returns a program with rerolled sub-jaxprs; the constants of their loops are hoisted."""
    constvars, consts = [*closed.jaxpr.constvars], [*closed.consts]

    def operand(x: Any) -> Atom:
        if isinstance(x, Atom):
            return x
        constvars.append(Var(get_aval(x)))
        consts.append(x)
        return constvars[-1]

    def with_rerolled(eqn: JaxprEqn) -> JaxprEqn:
        params = map_jaxprs(lambda program: rerolled(program, least), eqn.params)
        if not holds_constants(params):
            return eqn if params == eqn.params else eqn.replace(params=params)
        hoist = eqn.primitive.rule_or_none("hoist")
        if hoist is None:
            return eqn
        args, params = hoist(eqn.invars, params)
        return eqn.replace(invars=[*map(operand, args)], params=params)

    eqns = [with_rerolled(eqn) if eqn.params and eqn.primitive not in _NOT_REROLLED else eqn for eqn in closed.eqns]
    if all(new is old for new, old in zip(eqns, closed.eqns, strict=True)):
        return closed
    return ClosedJaxpr(closed.jaxpr.replace(constvars=constvars, eqns=eqns), consts)


def _once(closed: ClosedJaxpr, least: int) -> ClosedJaxpr | None:
    """Returns a program with its loops rolled, or None if it does not shrink enough."""
    if len(closed.eqns) < least:
        return None
    labels = labels_of(closed.eqns)
    best, size = None, len(closed.eqns) - len(closed.eqns) // _MIN_SHRINKAGE
    for outside in deferred(closed.jaxpr, labels, least):
        table = table_of(closed.jaxpr, labels, outside)
        runs = runs_of(table, least)
        if runs:
            written, count = _written(closed, table, runs, outside)
            if count < size:
                best, size = written, count
    return best


def _written(closed: ClosedJaxpr, table: Table, runs: Sequence[Run], outside: Deferred) -> tuple[ClosedJaxpr, int]:
    """Returns a program with runs written as loops, and its number of equations, those of the bodies included."""
    jaxpr = closed.jaxpr
    writer = Writer(outside.rows)
    for value in outside.values.values():
        outs = [value.total] if isinstance(value, RowSum) else value.outvars
        writer.waiting.update(dict.fromkeys(outs, value))
    others = [*outside.originals([*outside.operands(), *jaxpr.outvars])]
    in_runs = {number for run in runs for number in range(run.start, run.end)}
    single = set(outside.originals(jaxpr.outvars))
    for number, eqn in enumerate(table.eqns):
        if number not in in_runs and eqn.primitive is not concatenate_p:
            single.update(outside.originals(eqn.invars))
    count = number = 0
    for run, uses in zip(runs, outside_uses(table, runs, others, single), strict=True):
        for eqn in table.eqns[number : run.start]:
            _write(writer, eqn)
        count += write_loop(writer, table, run, uses, jaxpr.name)
        number = run.end
    for eqn in table.eqns[number:]:
        _write(writer, eqn)
    outvars = [writer.use(atom) for atom in jaxpr.outvars]
    constvars, consts = [*jaxpr.constvars, *writer.constvars], [*closed.consts, *writer.consts]
    written = jaxpr.replace(constvars=constvars, eqns=writer.eqns, outvars=outvars)
    return ClosedJaxpr(written, consts), count + len(writer.eqns)


def _write(writer: Writer, eqn: JaxprEqn) -> None:
    """Writes an equation unchanged, except that a concatenation of adjacent rows is a slice of their array."""
    writer.source = eqn.source
    if eqn.primitive is concatenate_p:
        writer.join(eqn)
        return
    writer.ready(eqn.invars)
    writer.eqns.append(writer.renamed(eqn))
