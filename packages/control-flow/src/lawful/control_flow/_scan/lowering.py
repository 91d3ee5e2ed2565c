"""Lowering of ``scan_p`` to a ``while`` with a counter, which reads slices and writes results into stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful.control_flow._loops.bodies import split_list, stack_aval
from lawful.control_flow._while.primitive import bind_while
from lawful.core import ClosedJaxpr, ShapedArray, eval_closed_jaxpr, float0, memoize
from lawful.ops import add, dynamic_index_in_dim, dynamic_update_index_in_dim, full, lt, pad, sub
from lawful.staging import trace_to_jaxpr

_COUNTER = ShapedArray((), np.dtype(np.int64))
# Stacks up to this size in bytes are initialized with a constant in the compiled program.
_CONSTANT: Final = 1 << 16


def lower_scan(
    ctx: Any, *args: Any, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, length: int, reverse: bool, unroll: int,
    **_: Any,
) -> Any:  # fmt: skip
    """Lowers a scan."""
    return ctx.inline(while_program(jaxpr, num_consts, num_carry, length, reverse, unroll), args)


@memoize
def while_program(
    jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, length: int, reverse: bool, unroll: int
) -> ClosedJaxpr:
    """Returns a program of a scan's operands: a ``while`` with ``unroll`` iterations of the scan per iteration."""
    consts, carry, xs = split_list(jaxpr.in_avals, (num_consts, num_carry))
    xs = [stack_aval(aval, length) for aval in xs]
    ys = [stack_aval(aval, length) for aval in jaxpr.out_avals[num_carry:]]
    sizes = (len(consts), len(xs), len(carry))
    operand_avals, state_avals = [*consts, *xs], [*carry, *ys]

    def iteration(i: Any, consts: Sequence[Any], xs: Sequence[Any], state: Sequence[Any]) -> list[Any]:
        index = sub(np.int64(length - 1), i) if reverse else i
        slices = [dynamic_index_in_dim(x, index, 0, keepdims=False, allow_negative_indices=False) for x in xs]
        outs = eval_closed_jaxpr(jaxpr, *consts, *state[:num_carry], *slices)
        stacks = [
            dynamic_update_index_in_dim(stack, y, index, 0, allow_negative_indices=False)
            for stack, y in zip(state[num_carry:], outs[num_carry:], strict=True)
        ]
        return [*outs[:num_carry], *stacks]

    def unrolled(*args: Any) -> list[Any]:
        consts, xs, (i, *state) = split_list(args, sizes[:2])
        for _ in range(unroll):
            state = iteration(i, consts, xs, state)
            i = add(i, np.int64(1))
        return [i, *state]

    def program(*args: Any) -> list[Any]:
        consts, carry, xs = split_list(args, sizes[:1] + sizes[2:])
        state = [*carry, *map(_blank, ys)]
        whole = length // unroll if length > unroll else 0
        if whole:
            end = np.int64(whole * unroll)
            below = trace_to_jaxpr(lambda i, *_: [lt(i, end)], [_COUNTER, *state_avals], transformation="scan")
            body = trace_to_jaxpr(unrolled, [*operand_avals, _COUNTER, *state_avals], transformation="scan")
            _, *state = bind_while(
                [], [*consts, *xs], [np.int64(0), *state],
                cond_jaxpr=below, body_jaxpr=body, const_pred_dims=(), counted=False, max_iters=None, checkpoints=1,
            )  # fmt: skip
        for i in range(whole * unroll, length):
            state = iteration(np.int64(i), consts, xs, state)
        return state

    return trace_to_jaxpr(program, [*consts, *carry, *xs], transformation="scan", name=jaxpr.jaxpr.name)


def _blank(aval: ShapedArray) -> Any:
    """Returns an array that a loop overwrites element by element before it is read.

    XLA's CPU backend compiles a separate function for a filled array, which takes 13 ms. An array with one different
    element is a constant to XLA, which is copied.
    """
    size = aval.size * aval.dtype.itemsize
    if aval.dtype == float0 or not 0 < size <= _CONSTANT:
        return full(aval.shape, 0, aval.dtype)
    first = full((1,) * aval.ndim, 1, aval.dtype)
    return pad(first, aval.dtype.type(0), [(0, extent - 1, 0) for extent in aval.shape])
