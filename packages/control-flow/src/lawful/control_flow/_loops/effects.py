"""Batching of conds and loops with effects: each batch element has the effects that it would have alone.

Without effects, all batch elements evaluate the same equations and unused results are discarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import control_flow
from lawful.core import Primitive, ShapedArray, current, map_jaxprs, without_pvary
from lawful.ops import move_batch_dim, with_weakness_of


def bind_one_by_one(
    primitive: Primitive,
    args: Sequence[Any],
    dims: Sequence[int | None],
    in_avals: Sequence[ShapedArray],
    params: dict[str, Any],
) -> tuple[list[Any], list[int | None]]:
    """Binds a primitive once for each batch element, in order.

    Args:
      primitive: the primitive, which has several results.
      args: its operands.
      dims: the batch dimension of each operand, or None; at least one is not None.
      in_avals: the types of the operands of a batch element.
      params: its parameters.

    Returns:
      The stacked results, and their batch dimensions.
    """
    # Below, no trace knows the axis that is mapped, if it has a name; along it a value that varies is a batch element.
    if not current.trace.checked_axes:
        params = map_jaxprs(without_pvary, params)
    batches = [move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True) if dim is not None]

    def element(slices: Sequence[Any]) -> list[Any]:
        rest = iter(slices)
        operands = [x if dim is None else next(rest) for x, dim in zip(args, dims, strict=True)]
        found: list[Any] = primitive.bind(*map(with_weakness_of, operands, in_avals), **params)
        return found

    outs = control_flow.map(element, batches)
    return outs, [0] * len(outs)
