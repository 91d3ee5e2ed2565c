"""Faults in rerolling."""

from __future__ import annotations

from typing import Any

from lawful.control_flow._reroll import body as reroll_body
from lawful.control_flow._reroll import labels as reroll_labels
from lawful.control_flow._reroll import loop as reroll_loop
from lawful.control_flow._reroll import table as reroll_table
from lawful.control_flow._reroll import writer as reroll_writer
from lawful.core import ClosedJaxpr
from tests.faults._fault import Rule, local_fault, method_fault


def _first_carry_stays(right: Rule) -> Rule:
    def close(self: Any, stacked: Any, name: str) -> ClosedJaxpr:
        closed: ClosedJaxpr = right(self, stacked, name)
        carry = [var for register in self.registers.values() for var in register.invars]
        return ClosedJaxpr(closed.jaxpr.replace(outvars=[*carry[:1], *closed.jaxpr.outvars[len(carry[:1]) :]]))

    return close


rerolling_faults = (
    local_fault(
        "reroll takes literals that differ by iteration for one",
        "different values merged",
        reroll_table,
        "literal_key",
        lambda right: lambda literal: literal.aval,
    ),
    method_fault(
        "reroll takes equations with other parameters for the same",
        "parameters ignored",
        reroll_labels._Labels,
        "_key",
        lambda right: lambda self, value: type(value),
    ),
    method_fault(
        "the first part of a rerolled loop's carry stays as it is",
        "state not updated",
        reroll_body.Body,
        "close",
        _first_carry_stays,
    ),
    local_fault(
        "the rows of a rerolled loop's results are counted from the end",
        "reversed order",
        reroll_loop,
        "stack_rows",
        lambda right: (
            lambda stack, indices: right(stack, {var: stack.aval.shape[0] - 1 - i for var, i in indices.items()})
        ),
    ),
    method_fault(
        "a rerolled loop gives what it had one iteration before the last",
        "off by one",
        reroll_loop._Results,
        "variable",
        lambda right: lambda self, ref, i: right(self, ref, i - 1 if i == self.run.trip_count - 1 else i),
    ),
    method_fault(
        "a rerolled loop loses weak types",
        "weak type lost",
        reroll_writer.Writer,
        "as_weak",
        lambda right: lambda self, atom, aval: atom,
    ),
)
