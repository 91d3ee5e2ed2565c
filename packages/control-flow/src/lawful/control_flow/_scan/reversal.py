"""The transpose of a ``scan_p`` without residuals: its iterations are rerun, and reversed from last to first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful.autodiff import transpose_jaxpr
from lawful.control_flow._loops.bodies import Counts, Mask, fixpoint, split_list, stack_aval
from lawful.control_flow._loops.checkpointing import reverse_iterations
from lawful.control_flow._while.while_loop import while_loop
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, memoize
from lawful.ops import (
    add_tangents,
    dynamic_index_in_dim,
    dynamic_update_index_in_dim,
    full,
    with_weakness_of,
)
from lawful.staging import dce_jaxpr, kept, partial_eval_jaxpr, trace_to_jaxpr


class Reversal(NamedTuple):
    """The transpose of a loop.

    Attributes:
      program: maps the known operands, the given cotangents of the linear carry and those of the results to
        cotangents of linear operands.
      consts: for each linear constant, whether the program returns its cotangent.
      carry: for each part of the linear carry, whether the program takes and returns its cotangent.
      xs: for each linear array that is sliced, whether the program returns its cotangent.
    """

    program: ClosedJaxpr
    consts: Mask
    carry: Mask
    xs: Mask


@memoize
def reversed_scan(
    jaxpr: ClosedJaxpr, counts: Counts, linear: Mask, nonzeros: Mask, length: int, reverse: bool, room: int
) -> Reversal:
    """Returns the transpose of a loop.

    Args:
      jaxpr: the body.
      counts: the groups of its inputs.
      linear: for each input, whether it is linear in any iteration.
      nonzeros: for each part of the linear carry and each result, whether its cotangent is given.
      length: the trip count.
      reverse: whether the loop begins with the last slice.
      room: how many carries can be stored.
    """
    lin_consts, lin_carry, lin_xs = split_list(linear, counts[:2])
    results = len(jaxpr.out_avals) - counts.carry
    split = partial_eval_jaxpr(jaxpr, linear, (*lin_carry, *(True,) * results))
    residuals = split.residual_count
    states = len(split.known.out_avals) - residuals
    step = dce_jaxpr(split.known, (True,) * states + (False,) * residuals)
    residuals_of = dce_jaxpr(split.known, (False,) * states + (True,) * residuals)
    before, after = sum(lin_consts), sum(lin_consts) + sum(lin_carry)
    mask = (*(False,) * residuals, *(True,) * (after + sum(lin_xs)))
    first, of_ys = split_list(nonzeros, (sum(lin_carry),))
    carry = fixpoint(first, lambda cts: transpose_jaxpr(split.unknown, mask, (*cts, *of_ys))[1][before:after])
    wanted = (*(False,) * before, *carry, *(False,) * sum(lin_xs))
    transposed, found = transpose_jaxpr(split.unknown, mask, (*carry, *of_ys), wanted)
    of_consts, of_xs = found[:before], found[after:]

    known_consts, start_avals, known_xs = split_list(
        kept(jaxpr.in_avals, [not lin for lin in linear]), (counts.consts - before, states)
    )
    # The sums are a part of the carry, and so strong.
    sums_avals = [aval.update(weak_type=False) for aval in transposed.out_avals[: sum(of_consts)]]
    xs_avals = [stack_aval(aval, length) for aval in transposed.out_avals[sum(of_consts) + sum(carry) :]]
    sizes = (len(known_consts), states, len(known_xs), sum(carry))

    def program(*args: Any) -> list[Any]:
        consts, start, xs, cts, cts_ys = split_list(args, sizes)

        def index(i: Any) -> Any:
            return length - 1 - i if reverse else i

        def slices(stacks: Sequence[Any], i: Any) -> list[Any]:
            return [dynamic_index_in_dim(x, index(i), 0, keepdims=False, allow_negative_indices=False) for x in stacks]

        def advance(state: list[Any], now: Any, until: Any) -> list[Any]:
            def iteration(loop: Any) -> Any:
                i, state = loop
                return i + 1, eval_closed_jaxpr(step, *consts, *state, *slices(xs, i))

            result: list[Any] = while_loop(lambda loop: loop[0] < until, iteration, (now, state))[1]
            return result

        def reverse_step(state: list[Any], i: Any, cts: list[Any], found: list[Any]) -> tuple[list[Any], list[Any]]:
            needed = eval_closed_jaxpr(residuals_of, *consts, *state, *slices(xs, i))
            outs = eval_closed_jaxpr(transposed, *needed, *cts, *slices(cts_ys, i))
            terms, before, cts_xs = split_list(outs, (len(sums_avals), len(cts)))
            sums, stacks = split_list(found, (len(sums_avals),))
            return before, [
                *map(add_tangents, sums, map(with_weakness_of, terms, sums_avals)),
                *[
                    dynamic_update_index_in_dim(stack, x, index(i), 0, allow_negative_indices=False)
                    for stack, x in zip(stacks, cts_xs, strict=True)
                ],
            ]

        zeros = [full(aval.shape, 0, aval.dtype) for aval in (*sums_avals, *xs_avals)]
        cts, found = reverse_iterations(np.int64(length), start, cts, zeros, advance, reverse_step, room, tape=False)
        sums, stacks = split_list(found, (len(sums_avals),))
        return [*sums, *cts, *stacks]

    given = [aval.to_tangent_aval() for aval in kept(jaxpr.out_avals[: counts.carry], lin_carry)]
    given_ys = [stack_aval(aval.to_tangent_aval(), length) for aval in kept(jaxpr.out_avals[counts.carry :], of_ys)]
    avals = [
        *known_consts, *start_avals, *[stack_aval(aval, length) for aval in known_xs], *kept(given, carry), *given_ys
    ]  # fmt: skip
    name = f"reversed_{jaxpr.jaxpr.name}"
    closed = trace_to_jaxpr(program, avals, transformation="transpose", name=name)
    return Reversal(closed, tuple(of_consts), tuple(carry), tuple(of_xs))
