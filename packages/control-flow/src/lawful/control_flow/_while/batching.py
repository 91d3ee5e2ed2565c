"""Batching of ``while_p``: the batch is one of the dimensions that the loop works on, or its elements are lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import batch_jaxpr, place_batch_dim
from lawful.control_flow._loops.bodies import Mask, settle, split_list
from lawful.control_flow._loops.effects import bind_one_by_one
from lawful.control_flow._loops.lanes import Lanes, move_batch_dims
from lawful.control_flow._while.primitive import bind_while, while_p
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, has_effects, memoize
from lawful.staging import trace_to_jaxpr

Dims = tuple[int | None, ...]


@memoize
def batch_at(closed: ClosedJaxpr, axis_data: Any, dims: Dims, places: Dims) -> ClosedJaxpr:
    """Returns the jaxpr of a batch of runs of a jaxpr, the batch dimension of each output where it is wanted."""
    if all(place in (0, None) for place in places):
        return batch_jaxpr(closed, axis_data, dims, tuple([place == 0 for place in places]))[0]
    batched, found = batch_jaxpr(closed, axis_data, dims, False)

    def placed(*args: Any) -> list[Any]:
        outs = eval_closed_jaxpr(batched, *args)
        return [place_batch_dim(x, dim, to, axis_data.size) for x, dim, to in zip(outs, found, places, strict=True)]

    return trace_to_jaxpr(placed, batched.in_avals, transformation="vmap", name=batched.jaxpr.name)


def settle_batched(body: ClosedJaxpr, axis_data: Any, const_dims: Dims, carry: Sequence[bool], behind: int) -> Mask:
    """Returns, for each part of a carry, whether it differs between the elements of a batch, in any turn."""

    def step(mask: Mask) -> list[bool]:
        found = batch_jaxpr(body, axis_data, (*const_dims, *places_of(mask, behind)), False)[1]
        return [dim is not None for dim in found]

    return settle(carry, step)


def places_of(mask: Sequence[bool], place: int) -> Dims:
    """Returns one batch dimension for all that a mask marks."""
    return tuple([place if batched else None for batched in mask])


def consts_in_batch(dims: Sequence[int | None], lanes: Lanes, stops: bool) -> tuple[Dims, Lanes]:
    """Returns where the batch dimensions of constants are to be, and which dimensions of the predicate they have then.

    Args:
      dims: where they are.
      lanes: which dimensions of the predicate they have, first of all.
      stops: whether each element of the batch stops by itself. Then the batch is the first dimension of the predicate.
    """
    if stops:
        shifted = [tuple([axis + 1 for axis in own]) for own in lanes]
        own = [after if dim is None else (0, *after) for dim, after in zip(dims, shifted, strict=True)]
        return places_of([dim is not None for dim in dims], 0), tuple(own)
    # The dimensions of the predicate stay the first ones.
    places = [None if dim is None else max(dim, len(own)) for dim, own in zip(dims, lanes, strict=True)]
    return tuple(places), lanes


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
    const_lanes: Lanes,
    **params: Any,
) -> tuple[list[Any], list[int | None]]:
    sizes = (cond_nconsts, body_nconsts)
    cond_consts, body_consts, carry = split_list(args, sizes)
    cond_dims, body_dims, carry_dims = split_list(dims, sizes)
    behind = cond_jaxpr.out_avals[0].ndim
    batched = settle_batched(body_jaxpr, axis_data, tuple(body_dims), [dim is not None for dim in carry_dims], behind)
    found = batch_jaxpr(cond_jaxpr, axis_data, (*cond_dims, *places_of(batched, behind)), False)[1][0]
    stops = found is not None
    if stops and (has_effects(cond_jaxpr) or has_effects(body_jaxpr)):
        in_avals = [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]
        jaxprs = {"cond_jaxpr": cond_jaxpr, "body_jaxpr": body_jaxpr}
        counts = {"cond_nconsts": cond_nconsts, "body_nconsts": body_nconsts, "const_lanes": const_lanes}
        return bind_one_by_one(while_p, args, dims, in_avals, {**jaxprs, **counts, **params})
    places = places_of([True] * len(carry), 0) if stops else places_of(batched, behind)
    cond_places, _ = consts_in_batch(cond_dims, ((),) * cond_nconsts, stops)
    body_places, lanes = consts_in_batch(body_dims, const_lanes or ((),) * body_nconsts, stops)
    size = axis_data.size
    outs = bind_while(
        move_batch_dims(cond_consts, cond_dims, cond_places, size),
        move_batch_dims(body_consts, body_dims, body_places, size),
        move_batch_dims(carry, carry_dims, places, size),
        cond_jaxpr=batch_at(cond_jaxpr, axis_data, (*cond_places, *places), (0 if stops else None,)),
        body_jaxpr=batch_at(body_jaxpr, axis_data, (*body_places, *places), places),
        const_lanes=lanes if any(lanes) else (),
        **params,
    )
    return outs, list(places)
