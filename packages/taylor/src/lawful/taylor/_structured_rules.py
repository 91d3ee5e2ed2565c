"""Rules of primitives that hold programs: the program is run on series within the same construct."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lawful import control_flow, ops
from lawful.autodiff import checkpoint, checkpoint_p
from lawful.control_flow import cond_p, scan_p, while_p
from lawful.core import ClosedJaxpr, eval_closed_jaxpr, get_aval, impure_rules, is_inexact, memoize
from lawful.staging import jit, jit_p
from lawful.taylor._series import Series, constant, dense
from lawful.taylor._trace import jet_flat

Many = list[Series]


def program(closed: ClosedJaxpr, series: Sequence[Series]) -> Many:
    """Returns the series of the outputs of a program; coefficients that are zero may be left out."""
    order = len(series[0]) - 1 if series else 0
    return jet_flat(lambda *xs: eval_closed_jaxpr(closed, *xs), series, order)


def full_program(closed: ClosedJaxpr, series: Sequence[Series]) -> Many:
    """Returns the same with all coefficients of what can move: each branch and each turn gives the same ones."""
    return [movable(x) for x in program(closed, series)]


def movable(series: Series) -> Series:
    """Returns a series with all of its coefficients; integers have none."""
    return dense(series) if is_inexact(get_aval(series[0]).dtype) else constant(series[0], len(series) - 1)


@memoize
def _compiled(closed: ClosedJaxpr, name: str, backend: str | None) -> Any:
    def jet(series: Many) -> Many:
        return program(closed, series)

    jet.__name__ = f"jet_{name}"
    return jit(jet, backend=backend)


def _jit(args: Many, *, jaxpr: ClosedJaxpr, name: str, backend: str | None = None, **_: Any) -> Many:
    compiled = _compiled(jaxpr, name, backend)
    before = impure_rules()
    found: Many = compiled(args)
    if impure_rules() != before:
        compiled.clear_cache()  # rules that may be impure run in each call
    return found


def _checkpoint(args: Many, *, jaxpr: ClosedJaxpr, **_: Any) -> Many:
    found: Many = checkpoint(partial(program, jaxpr))(args)
    return found


def _cond(args: Many, *, branches: Sequence[ClosedJaxpr]) -> Many:
    index, *operands = args
    if not branches[0].out_avals:
        return []
    order = len(index) - 1
    functions = [partial(_branch, branch, order) for branch in branches]
    found: Many = control_flow.switch(index[0], functions, operands)
    return found


def _branch(branch: ClosedJaxpr, order: int, operands: Many) -> Many:
    if operands:
        return full_program(branch, operands)
    return [movable(constant(x, order)) for x in eval_closed_jaxpr(branch)]


def _scan(
    args: Many, *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int, length: int, reverse: bool, unroll: int,
    checkpoints: int | None,
) -> Many:  # fmt: skip
    consts, carry, xs = args[:num_consts], args[num_consts : num_consts + num_carry], args[num_consts + num_carry :]

    def turn(state: Many, slices: Many) -> tuple[Many, Many]:
        outs = full_program(jaxpr, [*consts, *state, *slices])
        return outs[:num_carry], outs[num_carry:]

    start = [movable(x) for x in carry]
    last, stacks = control_flow.scan(
        turn, start, xs, length=length, reverse=reverse, unroll=unroll, checkpoints=checkpoints
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
    start = [movable(x) for x in args[cond_nconsts + body_nconsts :]]
    lanes = tuple(range(cond_jaxpr.out_avals[0].ndim))  # the dimensions of mapped loops: each element stops by itself

    def going(state: Many) -> Any:
        return eval_closed_jaxpr(cond_jaxpr, *cond_consts, *[x[0] for x in state])[0]

    def goes_on(state: Many) -> Any:
        return ops.reduce_or(going(state), lanes)

    def turn(state: Many) -> Many:
        after = full_program(body_jaxpr, [*body_consts, *state])
        if not lanes:
            return after
        chosen = going(state)
        return [
            [
                ops.select(ops.broadcast_in_dim(chosen, get_aval(x).shape, lanes), x, y)
                for x, y in zip(*pair, strict=True)
            ]
            for pair in zip(after, state, strict=True)
        ]

    found: Many = control_flow.while_loop(goes_on, turn, start, max_iters=max_iters, checkpoints=checkpoints)
    return found


jit_p.def_rule("jet", _jit)
checkpoint_p.def_rule("jet", _checkpoint)
cond_p.def_rule("jet", _cond)
scan_p.def_rule("jet", _scan)
while_p.def_rule("jet", _while)
