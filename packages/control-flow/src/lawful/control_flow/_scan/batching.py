"""Batching of ``scan_p``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import batch_jaxpr, place_batch_dim
from lawful.control_flow._loops.bodies import Counts, Mask, fixpoint, split_list
from lawful.control_flow._scan.primitive import bind_scan, counts_of, scan_p
from lawful.core import ClosedJaxpr, memoize
from lawful.ops import move_batch_dim


@memoize
def _batched_body(
    jaxpr: ClosedJaxpr, counts: Counts, axis_data: Any, dims: tuple[int | None, ...]
) -> tuple[ClosedJaxpr, Mask, tuple[int | None, ...]]:
    consts, first, xs = split_list(dims, counts[:2])

    def dims_of(carry: Mask) -> tuple[int | None, ...]:
        return (*consts, *[0 if batched else None for batched in carry], *xs)

    def step(carry: Mask) -> list[bool]:
        return [dim is not None for dim in batch_jaxpr(jaxpr, axis_data, dims_of(carry), False)[1][: counts.carry]]

    carry = fixpoint([dim is not None for dim in first], step)
    results = len(jaxpr.out_avals) - counts.carry
    body, dims_out = batch_jaxpr(jaxpr, axis_data, dims_of(carry), (*carry, *(False,) * results))
    return body, carry, dims_out


@scan_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    axis_data: Any,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> tuple[list[Any], list[int | None]]:
    counts = counts_of(jaxpr, num_consts, num_carry)
    consts, carry, xs = split_list(args, counts[:2])
    const_dims, carry_dims, xs_dims = split_list(dims, counts[:2])
    # The leading dimension is that of the iterations, so the batch dimension of stacked slices is the second one.
    xs = [x if dim is None else move_batch_dim(x, dim, 1) for x, dim in zip(xs, xs_dims, strict=True)]
    element_dims = (*const_dims, *carry_dims, *[None if dim is None else 0 for dim in xs_dims])
    body, batched, dims_out = _batched_body(jaxpr, counts, axis_data, element_dims)
    carry = [
        place_batch_dim(x, dim, 0 if has else None, axis_data.size)
        for x, dim, has in zip(carry, carry_dims, batched, strict=True)
    ]
    outs = bind_scan([*consts, *carry, *xs], body, counts, **loop)
    stacked = [None if dim is None else dim + 1 for dim in dims_out[num_carry:]]
    return outs, [*dims_out[:num_carry], *stacked]
