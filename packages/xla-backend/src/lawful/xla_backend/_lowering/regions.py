"""Branches and loops in StableHLO, which return the order token as one more result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lawful.core import ClosedJaxpr, has_effects
from lawful.xla_backend._runtime.bindings import stablehlo

if TYPE_CHECKING:
    from lawful.xla_backend._lowering.function import FunctionLowering

Value = Any


def case(
    function: FunctionLowering, index: Value, branches: Sequence[ClosedJaxpr], operands: Sequence[Value]
) -> list[Value]:
    """Builds a choice between programs."""
    types = [function.module.types.tensor_type(aval) for aval in branches[0].out_avals]
    before = function.order() if any(map(has_effects, branches)) else None
    if before is not None:
        types.append(before.type)
    op = stablehlo.CaseOp(types, index=index, num_branches=len(branches))
    for region, branch in zip(op.regions, branches, strict=True):
        with function.block(region, (), before):
            outs = function.inline(branch, operands)
            stablehlo.return_(outs if before is None else [*outs, function.order()])
    results = list(op.results)
    if before is not None:
        function.set_order(results.pop())
    return results


def while_loop(
    function: FunctionLowering, cond: Callable[..., Value], body: Callable[..., list[Value]], init: Sequence[Value]
) -> list[Value]:
    """Builds a loop of functions of the state's values, which have no effects."""
    types = [value.type for value in init]
    op = stablehlo.WhileOp(types, list(init))
    with function.block(op.regions[0], types) as state:
        stablehlo.return_([cond(*state)])
    with function.block(op.regions[1], types) as state:
        stablehlo.return_(body(*state))
    return list(op.results)


def while_loop_in_order(
    function: FunctionLowering, cond: Callable[..., Value], body: Callable[..., list[Value]], init: Sequence[Value]
) -> list[Value]:
    """Builds a loop of functions that have effects.

    The effects of the predicate come before those of the body. So the state begins with the predicate's value and
    the order token, and the body ends with the next predicate: the predicate of the loop itself has no effects.
    """
    pred = cond(*init)
    init = [pred, function.order(), *init]
    types = [value.type for value in init]
    op = stablehlo.WhileOp(types, init)
    with function.block(op.regions[0], types) as state:
        stablehlo.return_([state[0]])
    with function.block(op.regions[1], types) as state:
        function.set_order(state[1])
        after = body(*state[2:])
        pred = cond(*after)
        stablehlo.return_([pred, function.order(), *after])
    results = list(op.results)
    function.set_order(results[1])
    return results[2:]
