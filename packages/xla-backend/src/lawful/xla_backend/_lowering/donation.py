"""Donated arguments: which result may take the memory of which argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import Jaxpr, float0
from lawful.xla_backend._runtime.bindings import ir


def donation_attributes(jaxpr: Jaxpr, donated: Sequence[int]) -> list[Any]:
    """Returns the attributes of the arguments: which result takes the memory of which donated argument.

    XLA may use the memory of a donated argument that fits no result for intermediate values.
    """
    free: dict[tuple[tuple[int, ...], Any], list[int]] = {}
    results = [atom.aval for atom in jaxpr.outvars if atom.aval.dtype != float0]
    for position, aval in enumerate(results):
        free.setdefault((aval.shape, aval.dtype), []).append(position)
    given_up = frozenset(donated)
    attributes = []
    for position, var in enumerate(jaxpr.invars):
        if var.aval.dtype == float0:
            continue
        entry = {}
        if position in given_up:
            fitting = free.get((var.aval.shape, var.aval.dtype))
            if fitting:
                entry["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), fitting.pop(0))
            else:
                entry["jax.buffer_donor"] = ir.BoolAttr.get(True)
        attributes.append(ir.DictAttr.get(entry))
    return attributes
