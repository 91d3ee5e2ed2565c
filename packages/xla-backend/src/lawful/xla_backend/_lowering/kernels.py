"""Calls of kernels for matrices, of LAPACK or of a plugin: their layouts and their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lawful.core import ShapedArray
from lawful.xla_backend._runtime.bindings import ir


def call_kernel(
    target: str, operands: Sequence[Any], avals: Sequence[ShapedArray], result_types: Sequence[Any],
    results: Sequence[ShapedArray], transposed_operands: Sequence[int], transposed_results: Sequence[int],
    attributes: Mapping[str, Any],
) -> list[Any]:  # fmt: skip
    """Returns the results of a kernel, which takes and gives matrices by columns.

    Args:
      target: the name that it is registered under.
      operands: MLIR values.
      avals: their types.
      result_types: the types of the results in MLIR.
      results: and in lawful.
      transposed_operands: the positions of matrices by rows.
      transposed_results: likewise.
      attributes: its options.
    """
    rank = max(aval.ndim for aval in avals)
    op = ir.Operation.create(
        "stablehlo.custom_call",
        results=list(result_types),
        operands=list(operands),
        attributes={
            "call_target_name": ir.StringAttr.get(target),
            "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            "backend_config": ir.DictAttr.get({name: _attribute(value) for name, value in attributes.items()}),
            "operand_layouts": _layouts(avals, rank, transposed_operands),
            "result_layouts": _layouts(results, rank, transposed_results),
        },
    )
    return list(op.results)


def _attribute(value: bool | int | str | np.int32) -> Any:
    """Returns an option of a custom call: a boolean, a string, a number of 8 bits, or one of 32."""
    if isinstance(value, np.int32):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), int(value))
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(8), int(value))


def _layouts(avals: Sequence[ShapedArray], rank: int, by_rows: Sequence[int]) -> Any:
    """Returns the layouts of arrays: column-major matrices for those of rank ``rank``, except at some positions."""
    layouts = []
    for i, aval in enumerate(avals):
        order = list(reversed(range(aval.ndim)))
        if aval.ndim == rank and i not in by_rows:
            order[:2] = reversed(order[:2])
        layouts.append(ir.DenseIntElementsAttr.get(np.array(order, np.int64), type=ir.IndexType.get()))
    return ir.ArrayAttr.get(layouts)
