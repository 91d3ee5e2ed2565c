"""Forward mode and partial evaluation of ``while_p``.

Partial evaluation splits a loop in two: a known loop that also counts its iterations, and an unknown loop that is
bounded by this trip count instead of the predicate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.autodiff import jvp_jaxpr
from lawful.control_flow._loops.batch_elements import PredDims
from lawful.control_flow._loops.bodies import (
    Mask,
    fixpoint,
    instantiate_tangents,
    interleaved_order,
    rearranged,
    split_list,
    with_zeros,
)
from lawful.control_flow._while.primitive import bind_while, while_p
from lawful.core import ClosedJaxpr, ShapedArray, Var, Zero, eval_closed_jaxpr, get_aval, memoize
from lawful.ops import add, full, lt, with_weakness_of
from lawful.staging import (
    dce_jaxpr,
    kept,
    merge_lists,
    partial_eval_jaxpr,
    trace_to_jaxpr,
    used_inputs,
    without_effects,
)

Arrays = list[Any]


# Forward mode


@memoize
def _jvp_bodies(
    body: ClosedJaxpr, cond: ClosedJaxpr, body_nconsts: int, nonzeros: Mask
) -> tuple[ClosedJaxpr, ClosedJaxpr, Mask]:
    """Returns the predicate and the body for primals and tangents, and a mask of the operands that have tangents."""
    consts, first = split_list(nonzeros, (body_nconsts,))
    carry = fixpoint(first, lambda mask: jvp_jaxpr(body, (*consts, *mask), False)[1])
    derived, _ = jvp_jaxpr(body, (*consts, *carry), carry)
    tangents = derived.in_avals[len(body.in_avals) + sum(consts) :]
    order = interleaved_order((body_nconsts, len(carry)), (sum(consts), sum(carry)))
    return _with_unused(cond, tangents), rearranged(derived, order), (*consts, *carry)


def _with_unused(closed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a jaxpr with additional unused inputs."""
    jaxpr = closed.jaxpr
    return ClosedJaxpr(jaxpr.replace(invars=[*jaxpr.invars, *map(Var, avals)]), closed.consts)


@while_p.def_jvp
def _jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_pred_dims: PredDims,
    **params: Any,
) -> tuple[list[Any], list[Any]]:
    sizes = (cond_nconsts, body_nconsts)
    nonzeros = tuple([type(t) is not Zero for t in tangents[cond_nconsts:]])
    cond, body, mask = _jvp_bodies(body_jaxpr, cond_jaxpr, body_nconsts, nonzeros)
    cond_consts, body_consts, carry = split_list(primals, sizes)
    _, const_dots, carry_dots = split_list(tangents, sizes)
    of_consts, of_carry = split_list(mask, (body_nconsts,))
    outs = bind_while(
        cond_consts,
        body_consts + instantiate_tangents(const_dots, of_consts),
        carry + instantiate_tangents(carry_dots, of_carry),
        cond_jaxpr=cond, body_jaxpr=body,
        const_pred_dims=const_pred_dims and (*const_pred_dims, *kept(const_pred_dims, of_consts)), **params,
    )  # fmt: skip
    out, dots = split_list(outs, (len(carry),))
    return out, with_zeros(dots, of_carry, [get_aval(x).to_tangent_aval() for x in out])


# Counting


def counter_aval(cond: ClosedJaxpr) -> ShapedArray:
    """Returns the type of the trip counts of a loop: one for each element of the predicate."""
    return cond.out_avals[0].update(dtype=np.dtype(np.int64))


def _zero_counts(cond: ClosedJaxpr) -> Any:
    return full(cond.out_avals[0].shape, 0, np.int64)


@memoize
def _counting_loop(body: ClosedJaxpr, cond: ClosedJaxpr, body_nconsts: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Returns the predicate and the body of a loop whose carry begins with the number of iterations so far."""
    counter = counter_aval(cond)

    def iteration(*args: Any) -> list[Any]:
        consts, (count, *carry) = split_list(args, (body_nconsts,))
        after = add(count, full(get_aval(count).shape, 1, np.int64))
        return [after, *eval_closed_jaxpr(body, *consts, *carry)]

    consts, carry = split_list(body.in_avals, (body_nconsts,))
    of_cond = len(cond.in_avals) - len(carry)
    inputs = list(range(len(cond.in_avals)))
    widened = _with_unused(cond, [counter])
    order = (*inputs[:of_cond], len(inputs), *inputs[of_cond:])
    counting = trace_to_jaxpr(iteration, [*consts, counter, *carry], transformation="while", name=body.jaxpr.name)
    return rearranged(widened, order), counting


@memoize
def _bounded_loop(body: ClosedJaxpr, cond: ClosedJaxpr, body_nconsts: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Returns the predicate and the body of a loop that counts its iterations up to a given trip count."""
    _, counting = _counting_loop(body, cond, body_nconsts)
    counter = counter_aval(cond)
    carry = body.in_avals[body_nconsts:]
    below = trace_to_jaxpr(lambda n, count, *_: [lt(count, n)], [counter, counter, *carry], transformation="while")
    return below, counting


# Partial evaluation


@memoize
def split_carry(body: ClosedJaxpr, body_nconsts: int, unknown: Mask) -> Mask:
    """Returns, for each operand of a body, whether it is unknown in any iteration."""
    consts, first = split_list(unknown, (body_nconsts,))
    return (*consts, *fixpoint(first, lambda mask: partial_eval_jaxpr(body, (*consts, *mask)).unknown_out))


@memoize
def known_part(body: ClosedJaxpr, body_nconsts: int, mask: Mask) -> ClosedJaxpr:
    """Returns the part of a body that is known in every iteration: it maps known operands to the known carry."""
    split = partial_eval_jaxpr(body, mask, mask[body_nconsts:])
    outs = len(split.known.out_avals) - split.residual_count
    return dce_jaxpr(split.known, (True,) * outs + (False,) * split.residual_count)


def known_loop(
    cond: ClosedJaxpr, body: ClosedJaxpr, cond_consts: Arrays, known_consts: Arrays, known_carry: Arrays, mask: Mask,
    *, counted: bool, const_pred_dims: PredDims, **tape: Any,
) -> tuple[Any, Arrays]:  # fmt: skip
    """Runs the known part of a loop: returns the trip counts, and the known part of the last carry."""
    if counted and len(known_carry) == 1:
        return cond_consts[0], [cond_consts[0]]  # nothing but the counter is known
    of_consts, of_carry = split_list(mask, (len(body.in_avals) - len(body.out_avals),))
    known_inputs = [i for i, is_unknown in enumerate(of_carry, len(cond_consts)) if not is_unknown]
    cond = rearranged(cond, (*range(len(cond_consts)), *known_inputs))
    body = known_part(body, len(of_consts), mask)
    if not counted:
        cond, body = _counting_loop(body, cond, len(known_consts))
        known_carry = [_zero_counts(cond), *known_carry]
    outs = bind_while(
        cond_consts, known_consts, known_carry, cond_jaxpr=cond, body_jaxpr=body, counted=counted,
        const_pred_dims=const_pred_dims and tuple(unmarked(const_pred_dims, of_consts)), **tape,
    )  # fmt: skip
    return (cond_consts[0], outs) if counted else (outs[0], outs[1:])


def unmarked(items: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the items where a mask is false."""
    return [item for item, marked in zip(items, mask, strict=True) if not marked]


@while_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any],
    unknown: Sequence[bool],
    *args: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    counted: bool,
    **params: Any,
) -> list[Any]:
    mask = split_carry(body_jaxpr, body_nconsts, tuple(unknown[cond_nconsts:]))
    of_consts, of_carry = split_list(mask, (body_nconsts,))
    unknown_to_cond = (*unknown[:cond_nconsts], *of_carry)
    needed = used_inputs(cond_jaxpr, (True,))
    if any(is_unknown and used for is_unknown, used in zip(unknown_to_cond, needed, strict=True)):
        whole: list[Any] = record(
            *args, cond_jaxpr=cond_jaxpr, body_jaxpr=body_jaxpr, cond_nconsts=cond_nconsts,
            body_nconsts=body_nconsts, counted=counted, **params,
        )  # fmt: skip
        return whole
    cond_consts, body_consts, carry = split_list(args, (cond_nconsts, body_nconsts))
    trip_counts, outs = known_loop(
        cond_jaxpr, body_jaxpr, cond_consts, unmarked(body_consts, of_consts), unmarked(carry, of_carry), mask,
        counted=counted, **params,
    )  # fmt: skip
    before = 0 if counted else 1
    if not counted:
        # The unknown loop neither evaluates the predicate nor repeats the effects of the known loop.
        carry = [_zero_counts(cond_jaxpr), *carry]
        cond_jaxpr, body_jaxpr = _bounded_loop(without_effects(body_jaxpr), cond_jaxpr, body_nconsts)
    rest = record(
        trip_counts, *map(with_weakness_of, body_consts, body_jaxpr.in_avals), *carry, cond_jaxpr=cond_jaxpr,
        body_jaxpr=body_jaxpr, cond_nconsts=1, body_nconsts=body_nconsts, counted=True, **params,
    )  # fmt: skip
    return merge_lists(of_carry, outs, kept(rest[before:], of_carry))
