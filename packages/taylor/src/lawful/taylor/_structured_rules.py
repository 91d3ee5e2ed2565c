"""Rules of control flow and calls: the sub-jaxpr is evaluated on series within the same construct."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lawful import control_flow, ops
from lawful.autodiff import checkpoint, checkpoint_p, jvp_jaxpr
from lawful.control_flow import cond_p, scan_p, while_p
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, get_aval, impure_rules, memoize
from lawful.staging import jit, jit_p
from lawful.taylor._series import Series, constant, dense, moves
from lawful.taylor._trace import jet_flat

Many = list[Series]


def program(closed: ClosedJaxpr, series: Sequence[Series]) -> Many:
    """Returns the series of the outputs of a program; zero coefficients may be missing."""
    order = len(series[0]) - 1 if series else 0
    return jet_flat(lambda *xs: eval_closed_jaxpr(closed, *xs), series, order)


def conformed(series: Sequence[Series], moving: Sequence[bool]) -> Many:
    """Makes all coefficients of varying series explicit, and removes those of constants.

    So each branch and iteration has the same coefficients, and a constant has a zero derivative even if an op has no
    rule.
    """
    return [dense(x) if m else constant(x[0], len(x) - 1) for x, m in zip(series, moving, strict=True)]


def moving_outputs(closed: ClosedJaxpr, moving: Sequence[bool]) -> tuple[bool, ...]:
    """Returns which outputs vary along the curve: those whose tangents are not symbolic zeros."""
    return jvp_jaxpr(closed, tuple(moving), False)[1]


def moving_carry(body: ClosedJaxpr, consts: Many, carry: Many, xs: Many) -> list[bool]:
    """Returns which carried values vary in some iteration."""
    moving = [*map(moves, carry)]
    while True:
        after = moving_outputs(body, [*map(moves, consts), *moving, *map(moves, xs)])
        joined = [a or b for a, b in zip(moving, after, strict=False)]
        if joined == moving:
            return moving
        moving = joined


@memoize
def _compiled(closed: ClosedJaxpr, name: str, backend: Any) -> Any:
    def jet(series: Many) -> Many:
        return program(closed, series)

    jet.__name__ = f"jet_{name}"
    return jit(jet, backend=backend)


def _jit(args: Many, *, jaxpr: ClosedJaxpr, name: str, backend: Any = None, **_: Any) -> Many:
    compiled = _compiled(jaxpr, name, backend)
    before = impure_rules()
    found: Many = compiled(args)
    if impure_rules() != before:
        compiled.clear_cache()  # impure rules run at each call
    return found


def _checkpoint(args: Many, *, jaxpr: ClosedJaxpr, **_: Any) -> Many:
    found: Many = checkpoint(partial(program, jaxpr))(args)
    return found


def _cond(args: Many, *, branches: Sequence[ClosedJaxpr]) -> Many:
    index, *operands = args
    if not branches[0].out_avals:
        return []
    order = len(index) - 1
    marks = [moving_outputs(branch, [*map(moves, operands)]) for branch in branches]
    moving = [*map(any, zip(*marks, strict=True))]

    def on_series(branch: ClosedJaxpr, given: Many) -> Many:
        outs = program(branch, given) if given else [constant(x, order) for x in eval_closed_jaxpr(branch)]
        return conformed(outs, moving)

    found: Many = control_flow.switch(index[0], [partial(on_series, branch) for branch in branches], operands)
    return found


def _scan(
    args: Many, *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, length: int, reverse: bool, unroll: int,
    checkpoints: int | None,
) -> Many:  # fmt: skip
    consts, carry, xs = args[:num_consts], args[num_consts : num_consts + num_carry], args[num_consts + num_carry :]

    moving = moving_carry(jaxpr, consts, carry, xs)

    def body(state: Many, slices: Many) -> tuple[Many, Many]:
        outs = program(jaxpr, [*consts, *state, *slices])
        return conformed(outs[:num_carry], moving), outs[num_carry:]

    last, stacks = control_flow.scan(
        body, conformed(carry, moving), xs, length=length, reverse=reverse, unroll=unroll, checkpoints=checkpoints
    )
    return [*last, *stacks]


def _while(
    args: Many,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    max_iters: int | None,
    checkpoints: int,
    **_: Any,
) -> Many:
    cond_consts = [x[0] for x in args[:cond_nconsts]]
    body_consts = args[cond_nconsts : cond_nconsts + body_nconsts]
    carry = args[cond_nconsts + body_nconsts :]
    moving = moving_carry(body_jaxpr, body_consts, carry, [])
    mapped = tuple(range(cond_jaxpr.out_avals[0].ndim))  # batched predicates: each element stops on its own

    def going(state: Many) -> Any:
        return eval_closed_jaxpr(cond_jaxpr, *cond_consts, *[x[0] for x in state])[0]

    def goes_on(state: Many) -> Any:
        return ops.reduce_or(going(state), mapped)

    def body(state: Many) -> Many:
        after = conformed(program(body_jaxpr, [*body_consts, *state]), moving)
        if not mapped:
            return after
        chosen = going(state)

        def select(x: Any, y: Any) -> Any:
            if x is None:
                return None
            return ops.select(ops.broadcast_in_dim(chosen, get_aval(x).shape, mapped), x, y)

        return [[*map(select, *pair)] for pair in zip(after, state, strict=True)]

    found: Many = control_flow.while_loop(
        goes_on, body, conformed(carry, moving), max_iters=max_iters, checkpoints=checkpoints
    )
    return found


jit_p.def_rule("jet", _jit)
checkpoint_p.def_rule("jet", _checkpoint)
cond_p.def_rule("jet", _cond)
scan_p.def_rule("jet", _scan)
while_p.def_rule("jet", _while)
