"""Faults in ``scan``, ``while_loop`` and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.control_flow import scan_p, while_p
from lawful.control_flow._loops import checkpointing
from lawful.control_flow._scan import associative_scan as associative_scan_module
from lawful.control_flow._scan import batching as scan_batching
from lawful.control_flow._scan import fori_loop as fori_loop_module
from lawful.control_flow._scan import linearization as scan_linearization
from lawful.control_flow._scan import map as map_module
from lawful.control_flow._scan import primitive as scan_primitive
from lawful.control_flow._scan import reversal as scan_reversal
from lawful.control_flow._scan import transpose as scan_transpose
from lawful.control_flow._while import batching as while_batching
from lawful.control_flow._while import linearization as while_linearization
from lawful.control_flow._while import primitive as while_primitive
from lawful.control_flow._while import reversal as while_reversal
from lawful.control_flow._while import transpose as while_transpose
from lawful.core import Zero, get_aval
from tests.faults._fault import Fault, Rule, Wrong, local_fault, met_by, rule_fault, with_forms


def _without_while_consts(right: Rule) -> Rule:
    def transpose(cts: Any, *args: Any, **params: Any) -> Any:
        end = params["cond_nconsts"] + params["body_nconsts"]
        return [
            Zero(get_aval(ct)) if i < end and ct is not None and type(ct) is not Zero else ct
            for i, ct in enumerate(right(cts, *args, **params))
        ]

    return transpose


def _in_one_step(right: Rule) -> Rule:
    """Takes the facts about a carry after one iteration for those of all iterations."""

    def fixpoint(mask: Any, step: Rule) -> Any:
        return tuple([a or b for a, b in zip(mask, step(tuple(mask)), strict=True)])

    return fixpoint


def _other_direction(right: Rule) -> Rule:
    return lambda *args, reverse, **loop: right(*args, reverse=not reverse, **loop)


def _without(first: str, count: str) -> Wrong:
    """Returns what makes a transpose lose the cotangents of some operands.

    Args:
      first: the parameter that tells how many operands come before.
      count: the one that tells how many they are; empty for all that come before.
    """

    def wrong(right: Rule) -> Rule:
        def transpose(cts: Any, *args: Any, **params: Any) -> Any:
            start, end = (params[first], params[first] + params[count]) if count else (0, params[first])
            return [
                Zero(get_aval(ct)) if start <= i < end and ct is not None and type(ct) is not Zero else ct
                for i, ct in enumerate(right(cts, *args, **params))
            ]

        return transpose

    return wrong


def _residuals_backwards(right: Rule) -> Rule:
    def with_residuals(residuals: Any, invariant: Any, *rest: Any) -> Any:
        turned = [x if same else ops.rev(x, (0,)) for x, same in zip(residuals, invariant, strict=True)]
        return right(turned, invariant, *rest)

    return with_residuals


def _first_iteration_for_all(right: Rule) -> Rule:
    """Stores the residuals of the first iteration, and uses them in every iteration."""

    def with_residuals(residuals: Any, invariant: Any, *rest: Any) -> Any:
        def first(x: Any) -> Any:
            shape = get_aval(x).shape
            if not shape[0]:
                return x
            return ops.broadcast_in_dim(ops.slice_in_dim(x, 0, 1), shape, tuple(range(len(shape))))

        kept = [x if same else first(x) for x, same in zip(residuals, invariant, strict=True)]
        return right(kept, invariant, *rest)

    return with_residuals


def _zero_tangents_of_slices(right: Rule) -> Rule:
    def operands(primals: Any, tangents: Any, counts: Any, mask: Any) -> Any:
        before = counts.consts + counts.carry
        dropped = [t if i < before or type(t) is Zero else ops.full_like(t, 0) for i, t in enumerate(tangents)]
        return right(primals, dropped, counts, mask)

    return operands


def _stack_said_to_be_first(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, num_carry: int, **params: Any) -> Any:
        outs, found = right(args, dims, num_carry=num_carry, **params)
        return outs, [*found[:num_carry], *[dim and 0 for dim in found[num_carry:]]]

    return batch


def _no_elements(avals: Any, compile: Rule, *, cond_jaxpr: Any, body_jaxpr: Any, **params: Any) -> Rule:
    """Updates every batch element as long as one of them iterates."""
    cond, body = compile(cond_jaxpr), compile(body_jaxpr)
    sizes = (params["cond_nconsts"], params["body_nconsts"])

    def run(*args: Any) -> list[Any]:
        of_cond, of_body, carry = while_primitive.split_list(args, sizes)
        while np.any(cond(*of_cond, *carry)[0]):
            carry = body(*of_body, *carry)
        return carry

    return run


def _first_element(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, cond_nconsts: int, **params: Any) -> Any:
        def first(x: Any, dim: int | None) -> Any:
            if dim is None:
                return x
            return ops.squeeze(ops.slice_in_dim(x, 0, 1, 1, dim), (dim,))

        firsts = [first(x, dim) for x, dim in zip(args[:cond_nconsts], dims, strict=False)]
        return right(
            [*firsts, *args[cond_nconsts:]], [*[None] * cond_nconsts, *dims[cond_nconsts:]],
            cond_nconsts=cond_nconsts, **params,
        )  # fmt: skip

    return batch


def _iteration_before(right: Rule) -> Rule:
    """Reverses each iteration except the first from the state before the one at its start."""

    def reverse_iterations(count: Any, start: Any, cts: Any, sums: Any, advance: Rule, *rest: Any, **loop: Any) -> Any:
        def late(state: Any, now: Any, until: Any) -> Any:
            return advance(state, now, ops.max(until - 1, now))

        return right(count, start, cts, sums, late, *rest, **loop)

    return reverse_iterations


def _floats_one_place_early(right: Rule) -> Rule:
    def write(stack: Any, x: Any, place: Any) -> Any:
        is_float = get_aval(x).dtype.kind in "fc"
        return right(stack, x, ops.max(place - 1, 0) if is_float else place)

    return write


def _last_term(right: Rule) -> Rule:
    return lambda total, term: term


def _elements_exchanged(right: Rule) -> Rule:
    def replace_idle(counts: Any, arrays: Any, pred_dims: Any) -> Any:
        found = right(counts, arrays, pred_dims)
        return [ops.rev(x, (0,)) if dims else x for x, dims in zip(found, pred_dims, strict=True)]

    return replace_idle


loop_faults: tuple[Fault, ...] = met_by(
    with_forms("scan", "while_loop", "fori_loop", "map", "associative_scan", "jit", "vmap", "grad"),
    rule_fault("a compiled scan runs in the other direction", "wrong index", scan_p, "numpy", _other_direction),
    rule_fault("a transposed scan runs in the same direction", "wrong index", scan_p, "transpose", _other_direction),
    rule_fault(
        "the first carry of a scan gets no cotangent",
        "missing term",
        scan_p,
        "transpose",
        _without("num_consts", "num_carry"),
    ),
    rule_fault("constants of a scan get no cotangent", "missing term", scan_p, "transpose", _without("num_consts", "")),
    local_fault(
        "constants of a scan get the cotangent of one iteration",
        "not summed",
        scan_transpose,
        "add_tangents",
        _last_term,
    ),
    local_fault(
        "residuals of a scan are read from the wrong end",
        "wrong index",
        scan_linearization,
        "_residual_operands",
        _residuals_backwards,
    ),
    local_fault(
        "residuals of a scan are those of its first iteration",
        "residuals lost",
        scan_linearization,
        "_residual_operands",
        _first_iteration_for_all,
    ),
    local_fault(
        "tangents of slices are zero",
        "zero tangent taken for one",
        scan_linearization,
        "_jvp_operands",
        _zero_tangents_of_slices,
    ),
    local_fault(
        "a carry has a tangent if it has one after one iteration",
        "stops too early",
        scan_linearization,
        "fixpoint",
        _in_one_step,
    ),
    local_fault(
        "a carry is needed if it is after one iteration", "stops too early", scan_primitive, "fixpoint", _in_one_step
    ),
    local_fault(
        "a carry is batched if it is after one iteration", "stops too early", scan_batching, "fixpoint", _in_one_step
    ),
    local_fault(
        "a cotangent of a carry is there if it is before one iteration",
        "stops too early",
        scan_transpose,
        "fixpoint",
        _in_one_step,
    ),
    rule_fault(
        "the batch of stacked results is said to come first", "wrong axis", scan_p, "batch", _stack_said_to_be_first
    ),
    local_fault(
        "a recomputed iteration of a scan is reversed from the state before",
        "off by one",
        scan_reversal,
        "reverse_iterations",
        _iteration_before,
    ),
    local_fault(
        "constants of a recomputed scan get the cotangent of one iteration",
        "not summed",
        scan_reversal,
        "add_tangents",
        _last_term,
    ),
    local_fault("a state is stored one index early", "off by one", checkpointing, "_write", _floats_one_place_early),
    local_fault(
        "batch elements that have stopped go on", "wrong branch", while_primitive, "_numpy", lambda right: _no_elements
    ),
    rule_fault("the first element of a batch stops all", "wrong branch", while_p, "batch", _first_element),
    rule_fault(
        "constants of a while loop get no cotangent", "missing term", while_p, "transpose", _without_while_consts
    ),
    local_fault(
        "constants of a while loop get the cotangent of one iteration",
        "not summed",
        while_reversal,
        "add_tangents",
        _last_term,
    ),
    local_fault(
        "the iterations of a while loop are counted from one",
        "off by one",
        while_linearization,
        "_zero_counts",
        lambda right: lambda cond: ops.full(cond.out_avals[0].shape, 1, np.int64),
    ),
    local_fault(
        "an iteration of a while loop is reversed from the state before",
        "off by one",
        while_reversal,
        "reverse_iterations",
        _iteration_before,
    ),
    local_fault(
        "batch elements that have stopped are reversed",
        "wrong branch",
        while_reversal,
        "select_running",
        lambda right: lambda going, after, before: after,
    ),
    local_fault(
        "batch elements are reversed from the start of others",
        "wrong index",
        while_reversal,
        "replace_idle",
        _elements_exchanged,
    ),
    local_fault(
        "a part of a while loop is known if it is after one iteration",
        "stops too early",
        while_linearization,
        "fixpoint",
        _in_one_step,
    ),
    local_fault(
        "a part of a while loop is needed if it is after one iteration",
        "stops too early",
        while_primitive,
        "fixpoint",
        _in_one_step,
    ),
    local_fault(
        "a part of a while loop is batched if it is after one iteration",
        "stops too early",
        while_batching,
        "fixpoint",
        _in_one_step,
    ),
    local_fault("max_iters is one iteration short", "off by one", while_transpose, "gt", lambda right: ops.ge),
    local_fault("a range to a traced end includes it", "off by one", fori_loop_module, "lt", lambda right: ops.le),
    local_fault(
        "the integers of a range are one too large",
        "off by one",
        fori_loop_module,
        "with_weakness_of",
        lambda right: lambda i, aval: right(i + 1, aval),
    ),
    local_fault(
        "a map in batches repeats its first slices at the end",
        "wrong index",
        map_module,
        "concatenate",
        lambda right: lambda xs, axis: right([xs[0], ops.slice_in_dim(xs[0], 0, get_aval(xs[1]).shape[0])], axis),
    ),
    local_fault(
        "even elements of a scan stand where odd ones belong",
        "operands swapped",
        associative_scan_module,
        "_interleaved",
        lambda right: (
            lambda even, odd, axis: (
                right(odd, even, axis) if get_aval(even) == get_aval(odd) else right(even, odd, axis)
            )
        ),
    ),
)
