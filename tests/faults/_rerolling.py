"""Faults in what makes loops of repeated equations."""

from __future__ import annotations

from lawful.control_flow import _reroll_labels, _reroll_loop, _reroll_runs, _reroll_table, _reroll_writer

from ._fault import local_fault, method_fault

rerolling_faults = (
    local_fault(
        "reroll takes literals that differ from turn to turn for one",
        "different values merged",
        _reroll_table,
        "literal_key",
        lambda right: lambda literal: literal.aval,
    ),
    method_fault(
        "reroll takes equations with other parameters for the same",
        "parameters ignored",
        _reroll_labels._Labels,
        "_key",
        lambda right: lambda self, value: type(value),
    ),
    local_fault(
        "reroll does not look where turns take their operands from",
        "check that accepts",
        _reroll_runs,
        "_first_irregular",
        lambda right: lambda table, run: run.turns,
    ),
    local_fault(
        "the rows of a rerolled loop's results are counted from the end",
        "reversed order",
        _reroll_loop,
        "stack_row",
        lambda right: lambda stack, place, aval: right(stack, stack.aval.shape[0] - 1 - place, aval),
    ),
    method_fault(
        "a rerolled loop gives what it had one turn before the last",
        "off by one",
        _reroll_loop._Results,
        "variable",
        lambda right: lambda self, place, turn: right(self, place, turn - 1 if turn == self.run.turns - 1 else turn),
    ),
    method_fault(
        "a rerolled loop loses weak types",
        "weak type lost",
        _reroll_writer.Writer,
        "as_weak",
        lambda right: lambda self, atom, aval: atom,
    ),
)
