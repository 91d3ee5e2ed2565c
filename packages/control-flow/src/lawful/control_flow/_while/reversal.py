"""``reversed_while_p``: the turns of a loop, made again and reversed one by one from the last on.

It is a primitive so that batching, which makes lanes of the elements of a batch, keeps one schedule for all of them.
Every other transformation sees the program that it stands for.

Its operands are the number of turns, or that of each lane, the known constants of the body, the known part of the
carry at the start, and the given cotangents of the linear part of the carry. It gives the cotangents of linear
constants, which are sums over turns, and those of the linear part of the carry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful.autodiff import jvp_jaxpr, transpose_jaxpr
from lawful.control_flow._loops.bodies import Mask, given_cotangents, settle, split_list, with_zeros
from lawful.control_flow._loops.checkpointing import reverse_turns
from lawful.control_flow._loops.lanes import Lanes, move_batch_dims, select_lanes, with_turns
from lawful.control_flow._while.batching import batch_at, consts_in_batch, places_of, settle_batched
from lawful.control_flow._while.linearization import known_part, unmarked
from lawful.control_flow._while.while_loop import while_loop
from lawful.core import (
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    memoize,
)
from lawful.ops import add_tangents, full, full_like, reduce_max, with_weakness_of
from lawful.staging import dce_jaxpr, hoist_groups, kept, merge_lists, partial_eval_jaxpr, trace_to_jaxpr

reversed_while_p = Primitive("reversed_while", multiple_results=True, pure_rules=True)


class PullBack(NamedTuple):
    """One turn in reverse.

    Attributes:
      step: from the known constants and the known part of the carry to that part after the turn.
      residuals: from the same to what the transposed turn needs.
      transposed: from these and the given cotangents of the linear part of the carry to those of linear constants
        and of the linear part.
      cts: for each part of the linear carry, whether it has a cotangent.
      sums: for each linear constant, whether it gets one.
    """

    step: ClosedJaxpr
    residuals: ClosedJaxpr
    transposed: ClosedJaxpr
    cts: Mask
    sums: Mask


@memoize
def pull_back(body: ClosedJaxpr, linear: Mask, nonzeros: Mask) -> PullBack:
    """Returns a turn in reverse.

    Args:
      body: that of the loop.
      linear: for each of its operands, whether it is linear, in any turn.
      nonzeros: for each part of the linear carry, whether its cotangent is given.
    """
    nconsts = len(body.in_avals) - len(body.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    split = partial_eval_jaxpr(body, linear, tuple(of_carry))
    outs = len(split.known.out_avals)
    lin_consts = sum(of_consts)
    mask = (*(False,) * split.residual_count, *(True,) * (lin_consts + sum(of_carry)))
    cts = settle(nonzeros, lambda cts: transpose_jaxpr(split.unknown, mask, cts)[1][lin_consts:])
    transposed, found = transpose_jaxpr(split.unknown, mask, cts, (*(False,) * lin_consts, *cts))
    return PullBack(
        known_part(body, nconsts, linear),
        dce_jaxpr(split.known, [i >= outs - split.residual_count for i in range(outs)]),
        transposed,
        cts,
        tuple(found[:lin_consts]),
    )


def reverse_while(
    turns: Any, consts: Sequence[Any], start: Sequence[Any], cts: Sequence[Any], *,
    body_jaxpr: ClosedJaxpr, linear: Mask, **params: Any,
) -> tuple[list[Any], Mask, Mask]:  # fmt: skip
    """Binds the primitive; ``cts`` may have symbolic zeros.

    Returns:
      The cotangents of linear constants and of the linear part of the carry, and which of them these are.
    """
    turn = pull_back(body_jaxpr, linear, tuple([type(ct) is not Zero for ct in cts]))
    known = kept(body_jaxpr.in_avals, [not lin for lin in linear])
    operands = map(with_weakness_of, [*consts, *start], known)
    given = given_cotangents(cts, turn.cts)
    outs = reversed_while_p.bind(
        turns, *operands, *given, body_jaxpr=body_jaxpr, linear=linear, given=turn.cts, **params
    )
    return outs, turn.sums, turn.cts


@memoize
def _program(
    body: ClosedJaxpr, linear: Mask, given: Mask, lanes: tuple[int, ...], const_lanes: Lanes, room: int, tape: bool
) -> ClosedJaxpr:
    """Returns the program that the primitive stands for."""
    nconsts = len(body.in_avals) - len(body.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    known_consts, states = unmarked(body.in_avals[:nconsts], of_consts), unmarked(body.in_avals[nconsts:], of_carry)
    turn = pull_back(body, linear, given)
    count = sum(turn.sums)
    own_lanes = (
        *unmarked(const_lanes or ((),) * nconsts, of_consts),
        *[tuple(range(len(lanes))) for _ in states],
    )

    def program(turns: Any, *args: Any) -> list[Any]:
        operands, cts = split_list(args, (len(known_consts) + len(states),))
        if lanes:
            operands = with_turns(turns, operands, own_lanes)
        consts, start = split_list(operands, (len(known_consts),))
        most = reduce_max(turns, tuple(range(len(lanes)))) if lanes else turns

        def reaches(i: Any) -> Any:
            return i < turns

        def advance(state: list[Any], now: Any, until: Any) -> list[Any]:
            def step(carry: Any) -> Any:
                i, state = carry
                after = eval_closed_jaxpr(turn.step, *consts, *state)
                # A lane stays at its last turn, where what is computed for it has a meaning.
                return i + 1, select_lanes(reaches(i + 1), after, state) if lanes else after

            result: list[Any] = while_loop(lambda carry: carry[0] < until, step, (now, state))[1]
            return result

        def reverse(state: list[Any], i: Any, cts: list[Any], sums: list[Any]) -> tuple[list[Any], list[Any]]:
            residuals = eval_closed_jaxpr(turn.residuals, *consts, *state)
            coming = select_lanes(reaches(i), cts, [full_like(ct, 0) for ct in cts]) if lanes else cts
            terms, before = split_list(eval_closed_jaxpr(turn.transposed, *residuals, *coming), (count,))
            if lanes:
                before = select_lanes(reaches(i), before, cts)
            return before, [add_tangents(total, term) for total, term in zip(sums, terms, strict=True)]

        zeros = [full(aval.shape, 0, aval.dtype) for aval in turn.transposed.out_avals[:count]]
        cts, sums = reverse_turns(most, start, cts, zeros, advance, reverse, room, tape=tape)
        return [*sums, *cts]

    counter = ShapedArray(lanes, np.dtype(np.int64))
    avals = [counter, *known_consts, *states, *kept(kept(body.out_avals, of_carry), given)]
    return trace_to_jaxpr(program, avals, transformation="transpose", name=f"reversed_{body.jaxpr.name}")


def _program_for(
    turns: ShapedArray, *, body_jaxpr: ClosedJaxpr, linear: Mask, given: Mask, const_lanes: Lanes, room: int, tape: bool
) -> ClosedJaxpr:
    return _program(body_jaxpr, linear, given, turns.shape, const_lanes, room, tape)


@reversed_while_p.def_abstract_eval
def _abstract_eval(turns: ShapedArray, *avals: ShapedArray, **params: Any) -> list[ShapedArray]:
    program = _program_for(turns, **params)
    assert program.in_avals == [turns, *avals], (program.in_avals, avals)
    return program.out_avals


@reversed_while_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    turns, *operands = args
    operands, [body], [count] = hoist_groups(operands, [params["body_jaxpr"]], [0])
    lanes = params["const_lanes"]
    return [turns, *operands], {
        **params,
        "body_jaxpr": body,
        "linear": (False,) * count + params["linear"],
        "const_lanes": lanes and ((),) * count + lanes,
    }


@reversed_while_p.def_impl
def _impl(*args: Any, **params: Any) -> list[Any]:
    return eval_closed_jaxpr(_program_for(get_aval(args[0]), **params), *args)


@reversed_while_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], **params: Any) -> Any:
    return compile(_program_for(avals[0], **params))


@reversed_while_p.def_lowering
def _lower(ctx: Any, *args: Any, **params: Any) -> Any:
    return ctx.inline(_program_for(ctx.avals_in[0], **params), args)


@reversed_while_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
    program = _program_for(get_aval(primals[0]), **params)
    nonzeros = tuple([type(t) is not Zero for t in tangents])
    derived, nonzeros_out = jvp_jaxpr(program, nonzeros, False)
    outs = eval_closed_jaxpr(derived, *map(with_weakness_of, [*primals, *kept(tangents, nonzeros)], derived.in_avals))
    out, dots = split_list(outs, (len(program.out_avals),))
    return out, with_zeros(dots, nonzeros_out, [get_aval(x).to_tangent_aval() for x in out])


@reversed_while_p.def_partial_eval
def _partial_eval(record: Callable[..., Any], unknown: Sequence[bool], *args: Any, **params: Any) -> list[Any]:
    return eval_closed_jaxpr(_program_for(get_aval(args[0]), **params), *args)


reversed_while_p.declare_absent("transpose", "a linear program has the program that it stands for")


@reversed_while_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    axis_data: Any,
    body_jaxpr: ClosedJaxpr,
    linear: Mask,
    given: Mask,
    const_lanes: Lanes,
    **params: Any,
) -> tuple[list[Any], list[int | None]]:
    nconsts = len(body_jaxpr.in_avals) - len(body_jaxpr.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    sizes = (1, len(of_consts) - sum(of_consts), len(of_carry) - sum(of_carry))
    (turns,), consts, start, cts = split_list(args, sizes)
    (turns_dim,), const_dims, start_dims, ct_dims = split_list(dims, sizes)
    stops = turns_dim is not None
    behind = get_aval(turns).ndim - stops
    # What is linear is batched: each element of the batch has cotangents of its own.
    body_dims = merge_lists(of_consts, const_dims, [0] * sum(of_consts))
    body_places, lanes = consts_in_batch(body_dims, const_lanes or ((),) * nconsts, stops)
    if stops:
        places = places_of([True] * len(of_carry), 0)
    else:
        first = merge_lists(of_carry, [dim is not None for dim in start_dims], [True] * sum(of_carry))
        places = places_of(settle_batched(body_jaxpr, axis_data, body_places, first, behind), behind)
    size, is_known = axis_data.size, [not lin for lin in linear]
    ct_places = places_of([True] * len(cts), 0 if stops else behind)
    known_places = kept([*body_places, *places], is_known)
    outs = reversed_while_p.bind(
        *move_batch_dims([turns], [turns_dim], (0 if stops else None,), size),
        *move_batch_dims([*consts, *start], [*const_dims, *start_dims], known_places, size),
        *move_batch_dims(cts, ct_dims, ct_places, size),
        body_jaxpr=batch_at(body_jaxpr, axis_data, (*body_places, *places), places),
        linear=linear, given=given, const_lanes=lanes if any(lanes) else (), **params,
    )  # fmt: skip
    sums = pull_back(body_jaxpr, linear, given).sums
    return outs, [*kept(kept(body_places, of_consts), sums), *ct_places]
