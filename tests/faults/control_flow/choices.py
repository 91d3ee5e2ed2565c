"""Faults in ``cond`` and ``switch``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.control_flow._cond import batching as cond_batching
from lawful.control_flow._cond import cond as cond_module
from lawful.control_flow._cond import primitive as cond_primitive
from lawful.control_flow._cond import residuals as branch_residuals
from lawful.control_flow._cond.primitive import cond_p
from lawful.core import ClosedJaxpr, Literal, Zero, eval_closed_jaxpr, get_aval
from lawful.ops._support.batch_dimensions import add_batch_dim
from lawful.staging import trace_to_jaxpr
from lawful.staging._passes import hoisting as _hoisting
from tests.faults._fault import PROGRAMS, Rule, Wrong, local_fault, rule_fault, with_forms


def part(index: int) -> Wrong:
    """Returns the fault that reverses the branches in one part of a result."""

    def wrong(right: Rule) -> Rule:
        def reversed_branches(*args: Any) -> Any:
            parts = list(right(*args))
            parts[index] = parts[index][::-1]
            return tuple(parts)

        return reversed_branches

    return wrong


def _later_parts(right: Rule) -> Rule:
    """Reverses the branches that take residuals."""

    def wrong(*args: Any) -> Any:
        found = right(*args)
        if found is None:
            return None
        cut, nonzeros_out = found
        return cut._replace(consumers=cut.consumers[::-1]), nonzeros_out

    return wrong


def _next_branch(right: Rule) -> Rule:
    return lambda index, branches: (right(index, branches) + 1) % len(branches)


def _first_branch(right: Rule) -> Rule:
    return lambda avals, compile, *, branches: right(avals, compile, branches=branches[:1] * len(branches))


def _first_lane(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        if dims[0] is None or all(dim is None for dim in dims[1:]):
            return right(args, dims, **params)
        first = ops.reshape(ops.slice_in_dim(args[0], 0, 1), ())
        return right([first, *args[1:]], [None, *dims[1:]], **params)

    return batch


def _constants_twice(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, axis_data: Any, branches: Any) -> Any:
        twice = [
            add_batch_dim(x, axis_data.size) if dim is None and get_aval(x).ndim else x
            for x, dim in zip(args, dims, strict=True)
        ]
        return right(twice, dims, axis_data=axis_data, branches=branches)

    return batch


def _said_to_be_last(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        outs, found = right(args, dims, **params)
        return outs, [None if dim is None else get_aval(x).ndim - 1 for x, dim in zip(outs, found, strict=True)]

    return batch


def _one_place_for_all(right: Rule) -> Rule:
    def join(producers: Any, consumers: Any, counts: Any, **options: Any) -> Any:
        joined, reading, count = right(producers, consumers, counts, **options)
        return joined, tuple(_reading_the_first(closed, count) for closed in reading), count

    return join


def _reading_the_first(closed: Any, count: int) -> Any:
    """Returns a jaxpr that reads, for each of its first inputs, the first one of the same type."""
    first: dict[Any, Any] = {}
    instead_of = {var: first.setdefault(var.aval, var) for var in closed.jaxpr.invars[:count]}
    eqns = [eqn.replace(invars=[_replaced(instead_of, atom) for atom in eqn.invars]) for eqn in closed.eqns]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)


def _replaced(instead_of: dict[Any, Any], atom: Any) -> Any:
    return atom if type(atom) is Literal else instead_of.get(atom, atom)


def _zeros_for_own(right: Rule) -> Rule:
    def filled(closed: Any, own: Sequence[int], places: Any) -> Any:
        done = right(closed, own, places)

        def function(*args: Any) -> list[Any]:
            outs = eval_closed_jaxpr(done, *args)
            split = len(outs) - len(places)
            return [*outs[:split], *[ops.full(aval.shape, 0, aval.dtype) for aval in places]]

        return trace_to_jaxpr(function, closed.in_avals, transformation="cond")

    return filled


def _missing_last(right: Rule) -> Rule:
    def transpose(cts: Any, index: Any, *operands: Any, branches: Any) -> Any:
        found = right(cts, index, *operands, branches=branches)
        last = max((i for i, y in enumerate(found) if y is not None and type(y) is not Zero), default=None)
        return [Zero(get_aval(y)) if i == last else y for i, y in enumerate(found)]

    return transpose


def _first_result_only(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, branches: Any) -> Any:
        outs, found = right(primals, tangents, branches=branches)
        return outs, [found[0], *[Zero(get_aval(x).to_tangent_aval()) for x in outs[1:]]] if found else []

    return jvp


choice_faults = (
    local_fault("the branch after the one chosen is taken", "wrong branch", cond_primitive, "_position", _next_branch),
    local_fault(
        "cond takes its branches in the wrong order",
        "operands swapped",
        cond_module,
        "_choose",
        lambda right: (
            lambda name, index, functions, *rest: right(
                name, index, functions[::-1] if name == "cond" else functions, *rest
            )
        ),
    ),
    local_fault(
        "switch never takes its last branch",
        "off by one",
        cond_module,
        "clamp",
        lambda right: lambda low, index, high: right(low, index, high - (high > 0).astype(high.dtype)),
    ),
    rule_fault(
        "a compiled choice takes the first branch", "wrong branch", cond_p, "numpy", _first_branch, sources=PROGRAMS
    ),
    local_fault("the jvp of a choice takes the other branch", "wrong branch", cond_primitive, "_jvp_branches", part(0)),
    local_fault(
        "the linear part of a choice takes the other branch",
        "residuals of the wrong branch",
        cond_primitive,
        "_linearize_branches",
        _later_parts,
    ),
    local_fault(
        "the transpose of a choice takes the other branch",
        "wrong branch",
        cond_primitive,
        "_transpose_branches",
        part(0),
    ),
    local_fault(
        "the unknown part of a choice takes the other branch",
        "residuals of the wrong branch",
        cond_primitive,
        "_split_branches",
        _later_parts,
    ),
    local_fault(
        "residuals of branches of one type share an output",
        "residual aliasing",
        branch_residuals,
        "join_residuals",
        _one_place_for_all,
    ),
    local_fault(
        "branches hand over zeros for residuals", "residuals lost", branch_residuals, "_filled", _zeros_for_own
    ),
    rule_fault(
        "the last operand of a choice gets no cotangent",
        "missing term",
        cond_p,
        "transpose",
        _missing_last,
        sources=PROGRAMS,
    ),
    rule_fault(
        "only the first result of a choice has a tangent",
        "zero tangent taken for one",
        cond_p,
        "jvp",
        _first_result_only,
        sources=PROGRAMS,
    ),
    rule_fault(
        "the first element chooses the branch for all", "wrong branch", cond_p, "batch", _first_lane, sources=PROGRAMS
    ),
    local_fault(
        "a batched choice selects in the wrong order",
        "operands swapped",
        cond_batching,
        "select_n",
        lambda right: lambda which, *cases: right(which, *reversed(cases)),
    ),
    local_fault(
        "a batched switch never selects its last branch",
        "off by one",
        cond_batching,
        "select_n",
        lambda right: (
            lambda which, *cases: right(which if len(cases) == 2 else ops.min(which, np.int32(len(cases) - 2)), *cases)
        ),
    ),
    rule_fault(
        "constants of a choice are batched twice",
        "closure constant batched twice",
        cond_p,
        "batch",
        _constants_twice,
        sources=PROGRAMS,
    ),
    rule_fault(
        "the batch of a choice is said to come last", "wrong axis", cond_p, "batch", _said_to_be_last, sources=PROGRAMS
    ),
    local_fault(
        "what one branch maps and another does not is unmapped",
        "forgotten broadcast",
        cond_primitive,
        "union",
        lambda right: lambda masks: tuple(all(column) for column in zip(*masks, strict=True)),
    ),
    local_fault(
        "constants of branches are told apart by type only",
        "closure constant",
        _hoisting,
        "_identities",
        lambda right: lambda consts: [*range(len(consts))],
        with_forms("cond", "switch"),
    ),
)
