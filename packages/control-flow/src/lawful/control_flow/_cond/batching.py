"""Batching of ``cond_p``: one cond if the index is not batched, else every branch is computed and each element selects.

The derivative of the select is not enough: a branch may have an infinite derivative at an element that does not take
it, and infinity times a zero cotangent is NaN. So a guarded program with equal results is differentiated. In it, each
branch gets, for the elements that do not take it, the operands of an element that does; it is not run if no element
takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.batching import batch_jaxpr, mentions_axis
from lawful.control_flow._cond import primitive
from lawful.control_flow._cond.primitive import cond_p
from lawful.control_flow._cond.residuals import Branches
from lawful.control_flow._loops.batch_elements import move_batch_dims, replace_idle
from lawful.control_flow._loops.effects import bind_one_by_one
from lawful.core import (
    ClosedJaxpr,
    ShapedArray,
    current,
    eval_closed_jaxpr,
    eval_trace,
    get_aval,
    has_effects,
    memoize,
    with_axes_of,
)
from lawful.ops import (
    broadcast_in_dim,
    clamp,
    convert_element_type,
    eq,
    full,
    ne,
    reduce_or,
    select_n,
    with_weakness_of,
)
from lawful.staging import trace_to_jaxpr

Dims = tuple[int | None, ...]


@cond_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, branches: Branches
) -> tuple[list[Any], list[int | None]]:
    index, *operands = args
    index_dim, *operand_dims = dims
    in_dims = tuple(operand_dims)
    if index_dim is None:
        batched_out = primitive.union(
            [[d is not None for d in batch_jaxpr(branch, axis_data, in_dims, False)[1]] for branch in branches]
        )
        batched = tuple(batch_jaxpr(branch, axis_data, in_dims, batched_out)[0] for branch in branches)
        return cond_p.bind(index, *operands, branches=batched), [
            0 if is_batched else None for is_batched in batched_out
        ]
    if any(map(has_effects, branches)):
        index_aval = get_aval(index).update(shape=(), weak_type=False)
        in_avals = [index_aval, *branches[0].in_avals]
        return bind_one_by_one(cond_p, args, dims, in_avals, {"branches": branches})
    # The index is a scalar, so the batched index has one dimension.
    batched = tuple([batch_jaxpr(branch, axis_data, in_dims, True)[0] for branch in branches])
    # A collective reads all elements, also those that do not take its branch, so their operands must not be replaced.
    collective = any([mentions_axis(branch.jaxpr) for branch in branches])
    if current.trace is eval_trace or collective:
        with np.errstate(all="ignore"):  # errors at elements that do not take the branch
            outs = _select(index, operands, batched)
    else:
        outs = _choose(index, operands, in_dims, axis_data, branches, batched)
    return outs, [0] * len(outs)


def _choose(
    index: Any, operands: Sequence[Any], dims: Dims, axis_data: Any, branches: Branches, batched: Branches
) -> list[Any]:
    """Binds ``batched_cond_p`` with its guarded program, which is differentiated."""
    index_aval = get_aval(index).update(weak_type=False)
    from lawful.control_flow._cond.batched import bind_batched_cond  # a lazy import

    program = _selecting(batched[0], batched[1:], index_aval)
    guarded = _guarded(batched[0], branches, index_aval, dims, axis_data)
    return bind_batched_cond(program, guarded, [index, *operands])


@memoize
def _selecting(first: ClosedJaxpr, others: Branches, index: ShapedArray) -> ClosedJaxpr:
    """Returns the program that computes all batched branches and selects."""

    def program(index: Any, *operands: Any) -> list[Any]:
        return _select(index, operands, (first, *others))

    return trace_to_jaxpr(program, [index, *first.in_avals], transformation="vmap", name="batched_cond")


def _select(index: Any, operands: Sequence[Any], batched: Branches) -> list[Any]:
    return _selected(index, [eval_closed_jaxpr(branch, *operands) for branch in batched])


def _selected(index: Any, results: Sequence[Sequence[Any]]) -> list[Any]:
    """Selects, for each element, the results of the branch that it takes."""
    which = ne(index, 0) if len(results) == 2 else index
    return [
        select_n(broadcast_in_dim(which, get_aval(cases[0]).shape, (0,)), *cases)
        for cases in zip(*results, strict=True)
    ]


@memoize
def _guarded(first: ClosedJaxpr, branches: Branches, index: ShapedArray, dims: Dims, axis_data: Any) -> ClosedJaxpr:
    """Returns the program that computes each branch only at elements that take it, and not at all if there are none.

    Args:
      first: the first batched branch, which has the types of the operands.
      branches: the branches before batching.
      index: the type of the indices.
      dims: the batch dimensions of the operands.
      axis_data: the mapped axis.
    """
    in_front = tuple([None if dim is None else 0 for dim in dims])
    index_dims = tuple([() if dim is None else (0,) for dim in dims])
    batched = [batch_jaxpr(branch, axis_data, in_front, True)[0] for branch in branches]

    def program(index: Any, *operands: Any) -> list[Any]:
        nearest = clamp(np.int32(0), index, np.int32(len(branches) - 1))
        moved = move_batch_dims(operands, dims, in_front, axis_data.size)
        results = []
        for i, branch in enumerate(batched):
            taken = eq(nearest, np.int32(i))
            replaced = replace_idle(convert_element_type(taken, np.int64), moved, index_dims)
            results.append(_unless_idle(taken, replaced, branch))
        return _selected(nearest, results)

    return trace_to_jaxpr(program, [index, *first.in_avals], transformation="vmap", name="guarded_cond")


def _unless_idle(taken: Any, operands: Sequence[Any], branch: ClosedJaxpr) -> list[Any]:
    """Binds a cond that evaluates the branch if any element takes it, and else returns zeros."""
    any_taken = convert_element_type(reduce_or(taken, (0,)), np.int32)
    given = map(with_weakness_of, operands, branch.in_avals)
    outs: list[Any] = cond_p.bind(any_taken, *given, branches=(_zeros(branch), branch))
    return outs


@memoize
def _zeros(branch: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a branch with the same types that returns zeros."""

    def zeros(*operands: Any) -> list[Any]:
        return [with_axes_of(full(aval.shape, 0, aval.dtype), aval) for aval in branch.out_avals]

    return trace_to_jaxpr(zeros, branch.in_avals, transformation="vmap", name="idle")
