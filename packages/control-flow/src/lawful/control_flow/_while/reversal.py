"""``reversed_while_p``: the iterations of a loop, rerun and reversed one by one from the last to the first.

It is a primitive so that all batch elements share one schedule of checkpoints under `vmap`. Every other transformation
sees the program that it stands for.

Its operands are the trip count, or that of each batch element, the known constants of the body, the known part of the
first carry, and the given cotangents of the linear part of the carry. Its results are the cotangents of linear
constants, which are sums over iterations, and those of the linear part of the carry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful.autodiff import jvp_jaxpr, transpose_jaxpr
from lawful.batching import mentions_axis
from lawful.control_flow._loops.batch_elements import PredDims, move_batch_dims, replace_idle, select_running
from lawful.control_flow._loops.bodies import Mask, fixpoint, instantiate_cotangents, split_list, with_zeros
from lawful.control_flow._loops.checkpointing import reverse_iterations
from lawful.control_flow._loops.python_schedule import reverse_in_python
from lawful.control_flow._while.batching import batch_at, batched_carry, batched_const_dims, dims_where
from lawful.control_flow._while.linearization import known_part, unmarked
from lawful.control_flow._while.while_loop import while_loop
from lawful.core import (
    AxisNames,
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    memoize,
    with_axes_of,
)
from lawful.ops import add_tangents, full, full_like, reduce_max, with_weakness_of
from lawful.staging import (
    dce_jaxpr,
    hoist_groups,
    kept,
    merge_lists,
    numpy_function,
    partial_eval_jaxpr,
    trace_to_jaxpr,
)

reversed_while_p = Primitive("reversed_while", multiple_results=True, pure_rules=True)


class PullBack(NamedTuple):
    """One iteration in reverse.

    Attributes:
      step: maps the known constants and the known part of the carry to that part after the iteration.
      residuals: maps the same operands to the residuals of the iteration.
      transposed: maps the residuals and the given cotangents of the linear part of the carry to the cotangents of
        linear constants and of the linear part.
      cts: for each part of the linear carry, whether it has a cotangent.
      sums: for each linear constant, whether it gets a cotangent.
    """

    step: ClosedJaxpr
    residuals: ClosedJaxpr
    transposed: ClosedJaxpr
    cts: Mask
    sums: Mask


@memoize
def pull_back(body: ClosedJaxpr, linear: Mask, nonzeros: Mask) -> PullBack:
    """Returns an iteration in reverse.

    Args:
      body: the body of the loop.
      linear: for each of its operands, whether it is linear in any iteration.
      nonzeros: for each part of the linear carry, whether its cotangent is given.
    """
    nconsts = len(body.in_avals) - len(body.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    split = partial_eval_jaxpr(body, linear, tuple(of_carry))
    outs = len(split.known.out_avals)
    lin_consts = sum(of_consts)
    mask = (*(False,) * split.residual_count, *(True,) * (lin_consts + sum(of_carry)))
    cts = fixpoint(nonzeros, lambda cts: transpose_jaxpr(split.unknown, mask, cts)[1][lin_consts:])
    transposed, found = transpose_jaxpr(split.unknown, mask, cts, (*(False,) * lin_consts, *cts))
    return PullBack(
        known_part(body, nconsts, linear),
        dce_jaxpr(split.known, [i >= outs - split.residual_count for i in range(outs)]),
        transposed,
        cts,
        tuple(found[:lin_consts]),
    )


def reverse_while(
    trip_counts: Any, consts: Sequence[Any], start: Sequence[Any], cts: Sequence[Any], *,
    body_jaxpr: ClosedJaxpr, linear: Mask, **params: Any,
) -> tuple[list[Any], Mask, Mask]:  # fmt: skip
    """Binds the primitive; ``cts`` may have symbolic zeros.

    Returns:
      The cotangents of linear constants and of the linear part of the carry, and a mask for each of the two groups.
    """
    iteration = pull_back(body_jaxpr, linear, tuple([type(ct) is not Zero for ct in cts]))
    known = kept(body_jaxpr.in_avals, [not lin for lin in linear])
    operands = map(with_weakness_of, [*consts, *start], known)
    types = kept(kept(body_jaxpr.out_avals, linear[-len(body_jaxpr.out_avals) :]), iteration.cts)
    given = [*map(with_axes_of, instantiate_cotangents(cts, iteration.cts), types)]
    axes = tuple([get_aval(ct).vma for ct in given])
    are_wider = axes != tuple([aval.vma for aval in types])
    outs: list[Any]
    if are_wider or mentions_axis(body_jaxpr.jaxpr):
        # The cotangent of a constant that devices share is a sum over them, within each iteration. A cotangent may
        # vary over the devices where the carry does not.
        program = _program(
            body_jaxpr, linear, iteration.cts, get_aval(trip_counts), axes if are_wider else None, **params
        )
        outs = eval_closed_jaxpr(program, trip_counts, *operands, *given)
    else:
        outs = reversed_while_p.bind(
            trip_counts, *operands, *given, body_jaxpr=body_jaxpr, linear=linear, given=iteration.cts, **params
        )
    return outs, iteration.sums, iteration.cts


@memoize
def _program(
    body: ClosedJaxpr, linear: Mask, given: Mask, trip_counts: ShapedArray,
    ct_axes: tuple[AxisNames, ...] | None = None, *, const_pred_dims: PredDims, room: int, tape: bool,
) -> ClosedJaxpr:  # fmt: skip
    """Returns the program that the primitive stands for.

    ``ct_axes`` are the axes over which the cotangents vary, where they are not those of the carry.
    """
    batch_shape = trip_counts.shape
    nconsts = len(body.in_avals) - len(body.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    known_consts, states = unmarked(body.in_avals[:nconsts], of_consts), unmarked(body.in_avals[nconsts:], of_carry)
    iteration = pull_back(body, linear, given)
    count = sum(iteration.sums)
    pred_dims = (
        *unmarked(const_pred_dims or ((),) * nconsts, of_consts),
        *[tuple(range(len(batch_shape))) for _ in states],
    )

    def program(trip_counts: Any, *args: Any) -> list[Any]:
        operands, cts = split_list(args, (len(known_consts) + len(states),))
        if batch_shape:
            operands = replace_idle(trip_counts, operands, pred_dims)
        consts, start = split_list(operands, (len(known_consts),))
        longest = reduce_max(trip_counts, tuple(range(len(batch_shape)))) if batch_shape else trip_counts

        def is_running(i: Any) -> Any:
            return i < trip_counts

        def advance(state: list[Any], now: Any, until: Any) -> list[Any]:
            def step(carry: Any) -> Any:
                i, state = carry
                after = eval_closed_jaxpr(iteration.step, *consts, *state)
                # A stopped batch element keeps the state of its last iteration, where the body is well-defined.
                return i + 1, select_running(is_running(i + 1), after, state) if batch_shape else after

            result: list[Any] = while_loop(lambda carry: carry[0] < until, step, (now, state))[1]
            return result

        def reverse(state: list[Any], i: Any, cts: list[Any], sums: list[Any]) -> tuple[list[Any], list[Any]]:
            residuals = eval_closed_jaxpr(iteration.residuals, *consts, *state)
            running_cts = select_running(is_running(i), cts, [full_like(ct, 0) for ct in cts]) if batch_shape else cts
            terms, before = split_list(eval_closed_jaxpr(iteration.transposed, *residuals, *running_cts), (count,))
            if batch_shape:
                before = select_running(is_running(i), before, cts)
            return before, [add_tangents(total, term) for total, term in zip(sums, terms, strict=True)]

        sums = iteration.transposed.out_avals[:count]
        zeros = [with_axes_of(full(aval.shape, 0, aval.dtype), aval) for aval in sums]
        cts, sums = reverse_iterations(longest, start, cts, zeros, advance, reverse, room, tape=tape)
        return [*sums, *cts]

    of_cts = kept(kept(body.out_avals, of_carry), given)
    if ct_axes is not None:
        of_cts = [aval.update(vma=axes) for aval, axes in zip(of_cts, ct_axes, strict=True)]
    avals = [trip_counts, *known_consts, *states, *of_cts]
    return trace_to_jaxpr(program, avals, transformation="transpose", name=f"reversed_{body.jaxpr.name}")


def _program_for(
    trip_counts: ShapedArray, *, body_jaxpr: ClosedJaxpr, linear: Mask, given: Mask, const_pred_dims: PredDims,
    room: int, tape: bool,
) -> ClosedJaxpr:  # fmt: skip
    return _program(body_jaxpr, linear, given, trip_counts, const_pred_dims=const_pred_dims, room=room, tape=tape)


@reversed_while_p.def_abstract_eval
def _abstract_eval(trip_counts: ShapedArray, *avals: ShapedArray, **params: Any) -> list[ShapedArray]:
    program = _program_for(trip_counts, **params)
    assert program.in_avals == [trip_counts, *avals], (program.in_avals, avals)
    return program.out_avals


@reversed_while_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    trip_counts, *operands = args
    operands, [body], [count] = hoist_groups(operands, [params["body_jaxpr"]], [0])
    pred_dims = params["const_pred_dims"]
    return [trip_counts, *operands], {
        **params,
        "body_jaxpr": body,
        "linear": (False,) * count + params["linear"],
        "const_pred_dims": pred_dims and ((),) * count + pred_dims,
    }


# Evaluation


@reversed_while_p.def_expand
def _expand(*args: Any, **params: Any) -> list[Any]:
    return eval_closed_jaxpr(_program_for(get_aval(args[0]), **params), *args)


@memoize
def _reverse_iteration(body: ClosedJaxpr, linear: Mask, given: Mask) -> ClosedJaxpr:
    """Returns the program of one iteration in reverse.

    It maps known constants, the state before the iteration, cotangents and sums to the next cotangents and sums.
    """
    nconsts = len(body.in_avals) - len(body.out_avals)
    iteration = pull_back(body, linear, given)
    cts = kept(kept(body.out_avals, linear[nconsts:]), given)
    count = sum(iteration.sums)
    sums = [aval.update(weak_type=False) for aval in iteration.transposed.out_avals[:count]]
    known = iteration.residuals.in_avals

    def reverse(*args: Any) -> list[Any]:
        operands, cts_after, totals = split_list(args, (len(known), len(cts)))
        residuals = eval_closed_jaxpr(iteration.residuals, *operands)
        terms, before = split_list(eval_closed_jaxpr(iteration.transposed, *residuals, *cts_after), (count,))
        return [*map(with_weakness_of, [*before, *map(add_tangents, totals, terms)], [*cts, *sums])]

    return trace_to_jaxpr(reverse, [*known, *cts, *sums], transformation="transpose")


@memoize
def _results_as_in(program: ClosedJaxpr, reverse: ClosedJaxpr, count: int) -> ClosedJaxpr:
    """Returns the program from sums and cotangents, typed as in an iteration, to the results of a whole program."""
    outs = reverse.out_avals
    before = [*outs[len(outs) - count :], *outs[: len(outs) - count]]
    return trace_to_jaxpr(
        lambda *xs: [*map(with_weakness_of, xs, program.out_avals)], before, transformation="transpose"
    )


@reversed_while_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], **params: Any) -> Callable[..., list[Any]]:
    """Returns the function of NumPy arrays: one trip count has its schedule in Python."""
    program = _program_for(avals[0], **params)
    if avals[0].shape:
        shared: Callable[..., list[Any]] = compile(program)
        return shared
    room, tape = params["room"], params["tape"]
    key = params["body_jaxpr"], params["linear"], params["given"]
    iteration, reversed_iteration = pull_back(*key), _reverse_iteration(*key)
    count = sum(iteration.sums)
    step, reverse_iteration = compile(iteration.step), compile(reversed_iteration)
    finish = compile(_results_as_in(program, reversed_iteration, count))
    sums_avals = iteration.transposed.out_avals[:count]
    sizes = (len(iteration.step.in_avals) - len(iteration.step.out_avals), len(iteration.step.out_avals))

    def run(trip_count: Any, *args: Any) -> list[Any]:
        consts, start, cts = split_list(args, sizes)

        def reverse(state: list[Any], cts: list[Any], sums: list[Any]) -> tuple[list[Any], list[Any]]:
            outs = reverse_iteration(*consts, *state, *cts, *sums)
            return outs[: len(cts)], outs[len(cts) :]

        zeros = [np.zeros(aval.shape, aval.dtype)[()] for aval in sums_avals]
        cts, sums = reverse_in_python(
            int(trip_count), start, cts, zeros, lambda state: step(*consts, *state), reverse, room, tape=tape
        )
        outs: list[Any] = finish(*sums, *cts)
        return outs

    return run


@reversed_while_p.def_impl
def _impl(*args: Any, **params: Any) -> list[Any]:
    found: list[Any] = _numpy([get_aval(args[0])], numpy_function, **params)(*args)
    return found


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


reversed_while_p.declare_absent("transpose", "partial evaluation replaces it by the program that it stands for")


@reversed_while_p.def_batch
def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    axis_data: Any,
    body_jaxpr: ClosedJaxpr,
    linear: Mask,
    given: Mask,
    const_pred_dims: PredDims,
    **params: Any,
) -> tuple[list[Any], list[int | None]]:
    nconsts = len(body_jaxpr.in_avals) - len(body_jaxpr.out_avals)
    of_consts, of_carry = split_list(linear, (nconsts,))
    sizes = (1, len(of_consts) - sum(of_consts), len(of_carry) - sum(of_carry))
    (trip_counts,), consts, start, cts = split_list(args, sizes)
    (trip_counts_dim,), const_dims, start_dims, ct_dims = split_list(dims, sizes)
    pred_is_batched = trip_counts_dim is not None
    pred_ndim = get_aval(trip_counts).ndim - pred_is_batched
    # Linear operands are batched: each batch element has its own cotangents.
    body_dims = merge_lists(of_consts, const_dims, [0] * sum(of_consts))
    const_dims_in, pred_dims = batched_const_dims(body_dims, const_pred_dims or ((),) * nconsts, pred_is_batched)
    if pred_is_batched:
        carry_dims_in = dims_where([True] * len(of_carry), 0)
    else:
        first = merge_lists(of_carry, [dim is not None for dim in start_dims], [True] * sum(of_carry))
        carry_dims_in = dims_where(batched_carry(body_jaxpr, axis_data, const_dims_in, first, pred_ndim), pred_ndim)
    size, is_known = axis_data.size, [not lin for lin in linear]
    ct_dims_in = dims_where([True] * len(cts), 0 if pred_is_batched else pred_ndim)
    known_dims_in = kept([*const_dims_in, *carry_dims_in], is_known)
    outs = reversed_while_p.bind(
        *move_batch_dims([trip_counts], [trip_counts_dim], (0 if pred_is_batched else None,), size),
        *move_batch_dims([*consts, *start], [*const_dims, *start_dims], known_dims_in, size),
        *move_batch_dims(cts, ct_dims, ct_dims_in, size),
        body_jaxpr=batch_at(body_jaxpr, axis_data, (*const_dims_in, *carry_dims_in), carry_dims_in),
        linear=linear, given=given, const_pred_dims=pred_dims if any(pred_dims) else (), **params,
    )  # fmt: skip
    sums = pull_back(body_jaxpr, linear, given).sums
    return outs, [*kept(kept(const_dims_in, of_consts), sums), *ct_dims_in]
