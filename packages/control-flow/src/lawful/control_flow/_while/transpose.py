"""The transpose of ``while_p``: the reversal of its turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.control_flow._loops.bodies import split_list, with_zeros
from lawful.control_flow._loops.lanes import Lanes, select_lanes
from lawful.control_flow._while.linearization import known_loop, split_carry, unmarked
from lawful.control_flow._while.primitive import while_p
from lawful.control_flow._while.reversal import reverse_while
from lawful.core import (
    ClosedJaxpr,
    LawfulError,
    NotLinearError,
    Tracer,
    UndefinedPrimal,
    get_aval,
    is_complex,
    to_numpy,
)
from lawful.ops import complex, full_like, gt, imag, mul, real, reduce_or
from lawful.staging import kept, used_inputs


class IterationBoundError(LawfulError, RuntimeError):
    """The derivative of a loop was asked for that made more turns than its ``max_iters``.

    Cure: a larger ``max_iters``, or none: then any number of turns is reversed with ``checkpoints`` stored states.
    """


@while_p.def_transpose
def _transpose(
    cts: Sequence[Any],
    *args: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_lanes: Lanes,
    counted: bool,
    max_iters: int | None,
    checkpoints: int,
) -> list[Any]:
    linear = tuple(isinstance(x, UndefinedPrimal) for x in args)
    mask = split_carry(body_jaxpr, body_nconsts, linear[cond_nconsts:])
    of_consts, of_carry = split_list(mask, (body_nconsts,))
    for depends, used in zip((*linear[:cond_nconsts], *of_carry), used_inputs(cond_jaxpr, (True,)), strict=True):
        if depends and used:
            raise NotLinearError(
                "while_loop: expected a predicate that does not depend on what is transposed, got one that does; "
                "use vjp, which linearizes first"
            )
    cond_consts, body_consts, carry = split_list(args, (cond_nconsts, body_nconsts))
    consts, start = unmarked(body_consts, of_consts), unmarked(carry, of_carry)
    if counted:
        turns = cond_consts[0]
    else:
        turns, _ = known_loop(
            cond_jaxpr, body_jaxpr, cond_consts, consts, start, mask, counted=False, const_lanes=const_lanes,
            max_iters=max_iters, checkpoints=checkpoints,
        )  # fmt: skip
    if max_iters is not None:
        _require_within(turns, max_iters)
    lin_cts = kept(cts, of_carry)
    # A loop with a tape has a place for each of its turns.
    tape = {"room": checkpoints, "tape": False} if max_iters is None else {"room": max(max_iters, 1), "tape": True}
    outs, of_sums, of_cts = reverse_while(
        turns, consts, start, lin_cts, body_jaxpr=body_jaxpr, linear=mask, const_lanes=const_lanes, **tape
    )
    if max_iters is not None:
        every = tuple(range(get_aval(turns).ndim))
        lanes = [*kept(kept(const_lanes or ((),) * body_nconsts, of_consts), of_sums), *[every] * sum(of_cts)]
        outs = [_nan_in(_any_lane(gt(turns, np.int64(max_iters)), own), x) for x, own in zip(outs, lanes, strict=True)]
    sums, cts_in = split_list(outs, (sum(of_sums),))
    ct_consts = iter(with_zeros(sums, of_sums, kept(body_jaxpr.in_avals[:body_nconsts], of_consts)))
    ct_carry = iter(with_zeros(cts_in, of_cts, kept(body_jaxpr.in_avals[body_nconsts:], of_carry)))
    found = [
        *[None] * cond_nconsts,
        *[next(ct_consts) if lin else None for lin in of_consts],
        *[next(ct_carry) if lin else None for lin in of_carry],
    ]
    return [ct if lin else None for ct, lin in zip(found, linear, strict=True)]


def _require_within(turns: Any, max_iters: int) -> None:
    if isinstance(turns, Tracer):
        return  # the result says it, with NaN
    most = int(np.max(to_numpy(turns), initial=0))
    if most > max_iters:
        raise IterationBoundError(
            f"while_loop: expected at most max_iters={max_iters} turns of a loop that is differentiated in reverse, "
            f"got {most}; give a larger max_iters, or none, so that any number is reversed by running turns again"
        )


def _any_lane(condition: Any, own: tuple[int, ...]) -> Any:
    """Returns whether a condition holds in any of the lanes that share an array, which has some of their dimensions."""
    return reduce_or(condition, tuple([axis for axis in range(get_aval(condition).ndim) if axis not in own]))


def _nan_in(lanes: Any, x: Any) -> Any:
    """Returns an array with NaN in some lanes: a product, which is linear and says it in its transpose too."""
    if is_complex(get_aval(x).dtype):
        # A product of complex numbers would make infinity NaN.
        return complex(_nan_in(lanes, real(x)), _nan_in(lanes, imag(x)))
    [factor] = select_lanes(lanes, [full_like(x, np.nan)], [full_like(x, 1.0)])
    return mul(x, factor)
