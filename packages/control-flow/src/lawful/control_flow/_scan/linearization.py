"""Forward mode, linearization and partial evaluation of ``scan_p``.

The last two split a loop in two: the first produces residuals, the second takes them. With ``checkpoints`` the second
loop takes the operands instead, and recomputes the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.autodiff import jvp_jaxpr, linearize_jaxpr
from lawful.control_flow._loops.bodies import (
    Counts,
    Mask,
    fixpoint,
    instantiate_tangents,
    interleaved_order,
    rearranged,
    split_list,
    with_zeros,
)
from lawful.control_flow._loops.residuals import Recording, defer_broadcasts, recording
from lawful.control_flow._scan.primitive import bind_scan, counts_of, scan_p
from lawful.core import ClosedJaxpr, Zero, current, eval_closed_jaxpr, get_aval, has_effects, memoize
from lawful.ops import with_weakness_of
from lawful.staging import PartialTrace, Split, kept, merge_lists, partial_eval_jaxpr

# Forward mode


@memoize
def _jvp_body(jaxpr: ClosedJaxpr, counts: Counts, nonzeros: Mask) -> tuple[ClosedJaxpr, Mask, Mask]:
    """Returns the body for primals and tangents, and masks of the inputs and outputs that have tangents."""
    consts, first, xs = split_list(nonzeros, counts[:2])
    carry = fixpoint(first, lambda mask: jvp_jaxpr(jaxpr, (*consts, *mask, *xs), False)[1][: counts.carry])
    mask = (*consts, *carry, *xs)
    results = len(jaxpr.out_avals) - counts.carry
    derived, mask_out = jvp_jaxpr(jaxpr, mask, (*carry, *(False,) * results))
    tangents_in = tuple(map(sum, split_list(mask, counts[:2])))
    tangents_out = (sum(mask_out[: counts.carry]), sum(mask_out[counts.carry :]))
    body = rearranged(
        derived, interleaved_order(counts, tangents_in), interleaved_order((counts.carry, results), tangents_out)
    )
    return body, mask, mask_out


def _jvp_operands(
    primals: Sequence[Any], tangents: Sequence[Any], counts: Counts, mask: Mask
) -> tuple[list[Any], Counts]:
    """Returns the operands of a loop over primals and the tangents marked by a mask, and their groups."""
    masks = split_list(mask, counts[:2])
    groups = zip(split_list(primals, counts[:2]), split_list(tangents, counts[:2]), masks, strict=True)
    args = [x for group, ts, keep in groups for x in (*group, *instantiate_tangents(ts, keep))]
    return args, Counts(*[count + sum(keep) for count, keep in zip(counts, masks, strict=True)])


@scan_p.def_jvp
def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **loop: Any
) -> tuple[list[Any], list[Any]]:
    counts = counts_of(jaxpr, num_consts, num_carry)
    body, mask, mask_out = _jvp_body(jaxpr, counts, tuple([type(t) is not Zero for t in tangents]))
    args, derived = _jvp_operands(primals, tangents, counts, mask)
    outs = bind_scan(args, body, derived, **loop)
    carry_out = sum(mask_out[:num_carry])
    results = len(mask_out) - num_carry
    carry, carry_dots, ys, ys_dots = split_list(outs, (num_carry, carry_out, results))
    out = [*carry, *ys]
    return out, with_zeros([*carry_dots, *ys_dots], mask_out, [get_aval(x).to_tangent_aval() for x in out])


# Linearization and partial evaluation: a loop that produces residuals, and a loop that takes them


def _record_loop(
    recorded: Recording, args: Sequence[Any], counts: Counts, outs: int, **loop: Any
) -> tuple[list[Any], list[Any]]:
    """Returns the results of a loop, and its residuals: loop-invariant values and stacks."""
    consts, carry, xs = split_list(args, counts[:2])
    hoisted = eval_closed_jaxpr(recorded.hoisted, *map(with_weakness_of, consts, recorded.hoisted.in_avals))
    invariant, body_consts = split_list(hoisted, (sum(recorded.invariant),))
    inner = Counts(len(body_consts), counts.carry, counts.xs)
    # If all residuals are slices already and nothing else is wanted, there is nothing to run.
    is_empty = not recorded.body.out_avals and not has_effects(recorded.body)
    results = [] if is_empty else bind_scan([*body_consts, *carry, *xs], recorded.body, inner, **loop)
    stacks = {"xs": xs, "ys": results[counts.carry :]}
    varying = [stacks[where][i] for where, i in recorded.sources]
    return results[:outs], merge_lists(recorded.invariant, varying, invariant)


def _residual_body(consumer: ClosedJaxpr, invariant: Mask, rest: Counts) -> tuple[ClosedJaxpr, Counts]:
    """Returns the body of the loop that takes residuals, given a jaxpr of the residuals and then of ``rest``."""
    count = len(invariant)
    consts, carry, xs = split_list(range(count, count + sum(rest)), rest[:2])
    same = [i for i in range(count) if invariant[i]]
    varying = [i for i in range(count) if not invariant[i]]
    body = rearranged(consumer, (*same, *consts, *carry, *varying, *xs))
    return body, Counts(len(same) + rest.consts, rest.carry, len(varying) + rest.xs)


def _residual_operands(residuals: Sequence[Any], invariant: Mask, args: Sequence[Any], rest: Counts) -> list[Any]:
    """Returns the operands of the loop of `_residual_body`."""
    consts, carry, xs = split_list(args, rest[:2])
    varying = kept(residuals, [not same for same in invariant])
    return [*kept(residuals, invariant), *consts, *carry, *varying, *xs]


@memoize
def _linearized_body(jaxpr: ClosedJaxpr, counts: Counts, nonzeros: Mask) -> tuple[Recording, ClosedJaxpr, Mask, Mask]:
    consts, first, xs = split_list(nonzeros, counts[:2])
    carry = fixpoint(first, lambda mask: jvp_jaxpr(jaxpr, (*consts, *mask, *xs), False)[1][: counts.carry])
    mask = (*consts, *carry, *xs)
    results = len(jaxpr.out_avals) - counts.carry
    primal, linear, mask_out = linearize_jaxpr(jaxpr, mask, (*carry, *(False,) * results))
    primal, linear = defer_broadcasts(primal, linear, len(jaxpr.out_avals))
    return recording(primal, counts, len(jaxpr.out_avals)), linear, mask, mask_out


@scan_p.def_linearize
def _linearize(
    nonzeros: Sequence[bool], *primals: Any, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, **loop: Any
) -> Any:
    counts = counts_of(jaxpr, num_consts, num_carry)
    if loop["checkpoints"] is not None:
        return _linearize_recomputing(tuple(nonzeros), primals, jaxpr, counts, loop)
    recorded, linear, mask, mask_out = _linearized_body(jaxpr, counts, tuple(nonzeros))
    outs, residuals = _record_loop(recorded, primals, counts, len(jaxpr.out_avals), **loop)
    of_tangents = Counts(*map(sum, split_list(mask, counts[:2])))
    body, inner = _residual_body(linear, recorded.invariant, of_tangents)

    def tangent_fun(*tangents: Any) -> list[Any]:
        all_tangents = _all_tangents(nonzeros, primals, tangents)
        args = _residual_operands(residuals, recorded.invariant, instantiate_tangents(all_tangents, mask), of_tangents)
        return bind_scan(args, body, inner, _record, **loop)

    return outs, mask_out, tangent_fun


def _record(*args: Any, **params: Any) -> Any:
    """Records a loop in the current linear program without splitting it."""
    linear = current.trace
    assert isinstance(linear, PartialTrace)
    return linear.record(scan_p, args, params)


def _all_tangents(nonzeros: Sequence[bool], primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Returns a tangent for each primal, a symbolic zero where none is given."""
    rest = iter(tangents)
    return [
        next(rest) if nonzero else Zero(get_aval(x).to_tangent_aval())
        for nonzero, x in zip(nonzeros, primals, strict=True)
    ]


def _linearize_recomputing(
    nonzeros: Mask, primals: Sequence[Any], jaxpr: ClosedJaxpr, counts: Counts, loop: dict[str, Any]
) -> Any:
    """Linearizes a loop without residuals: the derivative is the loop over primals and tangents."""
    outs = bind_scan(primals, jaxpr, counts, **loop)
    body, mask, mask_out = _jvp_body(jaxpr, counts, nonzeros)
    carry_out, results = sum(mask_out[: counts.carry]), len(outs) - counts.carry
    start = counts.carry + carry_out
    needed = rearranged(body, None, (*range(start), *range(start + results, len(body.out_avals))))

    def tangent_fun(*tangents: Any) -> list[Any]:
        args, derived = _jvp_operands(primals, _all_tangents(nonzeros, primals, tangents), counts, mask)
        return bind_scan(args, needed, derived, _record, **loop)[counts.carry :]

    return outs, mask_out, tangent_fun


@memoize
def split_scan(jaxpr: ClosedJaxpr, counts: Counts, unknown: Mask) -> tuple[Split, Mask]:
    """Returns a split body, and for each of its inputs whether it is unknown in any iteration."""
    consts, first, xs = split_list(unknown, counts[:2])
    carry = fixpoint(first, lambda mask: partial_eval_jaxpr(jaxpr, (*consts, *mask, *xs)).unknown_out[: counts.carry])
    mask = (*consts, *carry, *xs)
    results = len(jaxpr.out_avals) - counts.carry
    return partial_eval_jaxpr(jaxpr, mask, (*carry, *(False,) * results)), mask


@memoize
def _split_body(jaxpr: ClosedJaxpr, counts: Counts, unknown: Mask) -> tuple[Recording, ClosedJaxpr, Mask, Mask]:
    split, mask = split_scan(jaxpr, counts, unknown)
    outs = len(split.unknown_out) - sum(split.unknown_out)
    producer, staged = defer_broadcasts(split.known, split.unknown, outs)
    return recording(producer, known_counts(counts, mask), outs), staged, mask, split.unknown_out


def known_counts(counts: Counts, mask: Mask) -> Counts:
    """Returns the groups of the inputs of a body that are not marked by a mask."""
    return Counts(*[count - sum(part) for count, part in zip(counts, split_list(mask, counts[:2]), strict=True)])


@scan_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any],
    unknown: Sequence[bool],
    *args: Any,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> list[Any]:
    counts = counts_of(jaxpr, num_consts, num_carry)
    if loop["checkpoints"] is not None:
        return _record_recomputing(record, tuple(unknown), args, jaxpr, counts, loop)
    recorded, staged, mask, mask_out = _split_body(jaxpr, counts, tuple(unknown))
    of_unknown = Counts(*map(sum, split_list(mask, counts[:2])))
    known = kept(args, [not is_unknown for is_unknown in mask])
    count = len(mask_out) - sum(mask_out)
    outs, residuals = _record_loop(recorded, known, known_counts(counts, mask), count, **loop)
    body, inner = _residual_body(staged, recorded.invariant, of_unknown)
    operands = _residual_operands(residuals, recorded.invariant, kept(args, mask), of_unknown)
    return merge_lists(mask_out, outs, bind_scan(operands, body, inner, record, **loop))


def _record_recomputing(
    record: Callable[..., Any], unknown: Mask, args: Sequence[Any], jaxpr: ClosedJaxpr, counts: Counts,
    loop: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """Evaluates the known part of a loop without residuals, and records the whole loop."""
    split, mask = split_scan(jaxpr, counts, unknown)
    count = len(split.known.out_avals) - split.residual_count
    known_body = rearranged(split.known, None, tuple(range(count)))
    known = kept(args, [not is_unknown for is_unknown in mask])
    outs = bind_scan(known, known_body, known_counts(counts, mask), **loop)
    return merge_lists(split.unknown_out, outs, kept(bind_scan(args, jaxpr, counts, record, **loop), split.unknown_out))
