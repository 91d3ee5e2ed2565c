"""The rules: one for each primitive, from the units of the operands to that of the result."""

from __future__ import annotations

from typing import Any

from lawful import ops
from units.trace import SLOT, Unit, UnitError


def same(*units: Unit, **params: Any) -> Unit:
    """The operands have one unit, and so has the result."""
    for unit in units:
        if unit != units[0]:
            raise UnitError(f"units: expected operands of one unit, got {units[0]} and {unit}; convert one of them")
    return units[0]


def number(*units: Unit, **params: Any) -> Unit:
    """The operands are numbers, and so is the result."""
    return same(Unit(), *units)


for primitive in (ops.add_p, ops.sub_p, ops.neg_p, ops.max_p, ops.min_p, ops.convert_element_type_p):
    primitive.def_rule(SLOT, same)
for primitive in (ops.reshape_p, ops.broadcast_in_dim_p, ops.reduce_sum_p):
    primitive.def_rule(SLOT, same)
for primitive in (ops.sin_p, ops.cos_p, ops.exp_p, ops.log_p):
    primitive.def_rule(SLOT, number)
ops.mul_p.def_rule(SLOT, lambda x, y: x * y)
ops.div_p.def_rule(SLOT, lambda x, y: x / y)
