"""Batching of ``while_p``.

If the predicate is not batched, the batch dimension is one more dimension of the carry. Otherwise it becomes the first
dimension of the predicate, and each batch element stops when its own predicate is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import batch_jaxpr
from lawful.control_flow._loops.batch_elements import PredDims, move_batch_dims
from lawful.control_flow._loops.bodies import Mask, fixpoint, split_list
from lawful.control_flow._loops.effects import bind_one_by_one
from lawful.control_flow._while.primitive import bind_while, while_p
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, has_effects, memoize
from lawful.staging import trace_to_jaxpr

Dims = tuple[int | None, ...]


@memoize
def batch_at(closed: ClosedJaxpr, axis_data: Any, dims: Dims, out_dims: Dims) -> ClosedJaxpr:
    """Returns a batched jaxpr with the batch dimension of each output at the wanted axis."""
    if all(dim in (0, None) for dim in out_dims):
        return batch_jaxpr(closed, axis_data, dims, tuple([dim == 0 for dim in out_dims]))[0]
    batched, found = batch_jaxpr(closed, axis_data, dims, False)

    def placed(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(batched, *args)
        return move_batch_dims(outs, found, out_dims, axis_data.size)

    return trace_to_jaxpr(placed, batched.in_avals, transformation="vmap", name=batched.jaxpr.name)


def batched_carry(body: ClosedJaxpr, axis_data: Any, const_dims: Dims, carry: Sequence[bool], dim: int) -> Mask:
    """Returns, for each part of a carry, whether it is batched in any iteration.

    Args:
      body: the body of the loop.
      axis_data: the mapped axis.
      const_dims: the batch dimensions of the constants.
      carry: for each part of the first carry, whether it is batched.
      dim: the batch dimension of batched parts of the carry.
    """

    def step(mask: Mask) -> list[bool]:
        found = batch_jaxpr(body, axis_data, (*const_dims, *dims_where(mask, dim)), False)[1]
        return [dim is not None for dim in found]

    return fixpoint(carry, step)


def dims_where(mask: Sequence[bool], dim: int) -> Dims:
    """Returns the same batch dimension where a mask is true, and None elsewhere."""
    return tuple([dim if batched else None for batched in mask])


def batched_const_dims(dims: Sequence[int | None], pred_dims: PredDims, pred_is_batched: bool) -> tuple[Dims, PredDims]:
    """Returns the wanted batch dimensions of constants, and the dimensions of the batched predicate that they have.

    Args:
      dims: the current batch dimensions.
      pred_dims: which dimensions of the predicate are the leading dimensions of each constant.
      pred_is_batched: whether the batch becomes the first dimension of the predicate.
    """
    if pred_is_batched:
        shifted = [tuple([axis + 1 for axis in axes]) for axes in pred_dims]
        found = [axes if dim is None else (0, *axes) for dim, axes in zip(dims, shifted, strict=True)]
        return dims_where([dim is not None for dim in dims], 0), tuple(found)
    # The dimensions of the predicate stay in front of the batch dimension.
    wanted = [None if dim is None else max(dim, len(axes)) for dim, axes in zip(dims, pred_dims, strict=True)]
    return tuple(wanted), pred_dims


@while_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    axis_data: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_pred_dims: PredDims,
    **params: Any,
) -> tuple[list[Any], list[int | None]]:
    sizes = (cond_nconsts, body_nconsts)
    cond_consts, body_consts, carry = split_list(args, sizes)
    cond_dims, body_dims, carry_dims = split_list(dims, sizes)
    pred_ndim = cond_jaxpr.out_avals[0].ndim
    first = [dim is not None for dim in carry_dims]
    batched = batched_carry(body_jaxpr, axis_data, tuple(body_dims), first, pred_ndim)
    pred_dim = batch_jaxpr(cond_jaxpr, axis_data, (*cond_dims, *dims_where(batched, pred_ndim)), False)[1][0]
    pred_is_batched = pred_dim is not None
    if pred_is_batched and (has_effects(cond_jaxpr) or has_effects(body_jaxpr)):
        in_avals = [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]
        jaxprs = {"cond_jaxpr": cond_jaxpr, "body_jaxpr": body_jaxpr}
        counts = {"cond_nconsts": cond_nconsts, "body_nconsts": body_nconsts, "const_pred_dims": const_pred_dims}
        return bind_one_by_one(while_p, args, dims, in_avals, {**jaxprs, **counts, **params})
    dims_in = dims_where([True] * len(carry), 0) if pred_is_batched else dims_where(batched, pred_ndim)
    cond_dims_in, _ = batched_const_dims(cond_dims, ((),) * cond_nconsts, pred_is_batched)
    body_dims_in, pred_dims = batched_const_dims(body_dims, const_pred_dims or ((),) * body_nconsts, pred_is_batched)
    size = axis_data.size
    outs = bind_while(
        move_batch_dims(cond_consts, cond_dims, cond_dims_in, size),
        move_batch_dims(body_consts, body_dims, body_dims_in, size),
        move_batch_dims(carry, carry_dims, dims_in, size),
        cond_jaxpr=batch_at(cond_jaxpr, axis_data, (*cond_dims_in, *dims_in), (0 if pred_is_batched else None,)),
        body_jaxpr=batch_at(body_jaxpr, axis_data, (*body_dims_in, *dims_in), dims_in),
        const_pred_dims=pred_dims if any(pred_dims) else (),
        **params,
    )
    return outs, list(dims_in)
