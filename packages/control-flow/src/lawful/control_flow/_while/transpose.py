"""The transpose of ``while_p``: the reversal of its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.control_flow._loops.batch_elements import PredDims, select_running
from lawful.control_flow._loops.bodies import split_list, with_zeros
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
    """A loop was differentiated in reverse that ran more iterations than its ``max_iters``.

    Cure: a larger ``max_iters``, or none: then any trip count is reversed with ``checkpoints`` stored states.

    >>> from lawful.autodiff import grad
    >>> from lawful.control_flow import while_loop
    >>> grad(lambda x: while_loop(lambda x: x < 10.0, lambda x: 2.0 * x, x, max_iters=2))(1.0)
    Traceback (most recent call last):
    lawful.control_flow._while.transpose.IterationBoundError: ...
    """


@while_p.def_transpose
def _transpose(
    cts: Sequence[Any],
    *args: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    const_pred_dims: PredDims,
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
        trip_counts = cond_consts[0]
    else:
        trip_counts, _ = known_loop(
            cond_jaxpr, body_jaxpr, cond_consts, consts, start, mask, counted=False, const_pred_dims=const_pred_dims,
            max_iters=max_iters, checkpoints=checkpoints,
        )  # fmt: skip
    if max_iters is not None:
        _require_within(trip_counts, max_iters)
    lin_cts = kept(cts, of_carry)
    # A loop with a tape stores the state of each iteration.
    tape = {"room": checkpoints, "tape": False} if max_iters is None else {"room": max(max_iters, 1), "tape": True}
    outs, of_sums, of_cts = reverse_while(
        trip_counts, consts, start, lin_cts, body_jaxpr=body_jaxpr, linear=mask, const_pred_dims=const_pred_dims, **tape
    )
    if max_iters is not None:
        every = tuple(range(get_aval(trip_counts).ndim))
        exceeds = gt(trip_counts, np.int64(max_iters))
        pred_dims = [*kept(kept(const_pred_dims or ((),) * body_nconsts, of_consts), of_sums), *[every] * sum(of_cts)]
        outs = [_nan_where(_any_element(exceeds, dims), x) for x, dims in zip(outs, pred_dims, strict=True)]
    sums, cts_in = split_list(outs, (sum(of_sums),))
    ct_consts = iter(with_zeros(sums, of_sums, kept(body_jaxpr.in_avals[:body_nconsts], of_consts)))
    ct_carry = iter(with_zeros(cts_in, of_cts, kept(body_jaxpr.in_avals[body_nconsts:], of_carry)))
    found = [
        *[None] * cond_nconsts,
        *[next(ct_consts) if lin else None for lin in of_consts],
        *[next(ct_carry) if lin else None for lin in of_carry],
    ]
    return [ct if lin else None for ct, lin in zip(found, linear, strict=True)]


def _require_within(trip_counts: Any, max_iters: int) -> None:
    if isinstance(trip_counts, Tracer):
        return  # the result is NaN instead
    longest = int(np.max(to_numpy(trip_counts), initial=0))
    if longest > max_iters:
        raise IterationBoundError(
            f"while_loop: expected at most max_iters={max_iters} iterations of a loop that is differentiated in "
            f"reverse, got {longest}; give a larger max_iters, or none, so that any trip count is reversed by running "
            "iterations again"
        )


def _any_element(condition: Any, dims: tuple[int, ...]) -> Any:
    """Reduces a condition on batch elements to the given dimensions: whether it holds for any element."""
    return reduce_or(condition, tuple([axis for axis in range(get_aval(condition).ndim) if axis not in dims]))


def _nan_where(condition: Any, x: Any) -> Any:
    """Returns an array with NaN where a condition on batch elements holds.

    It is a product, which is linear in ``x``, so that its transpose is NaN there too.
    """
    if is_complex(get_aval(x).dtype):
        # A product of complex numbers would make infinity NaN.
        return complex(_nan_where(condition, real(x)), _nan_where(condition, imag(x)))
    [factor] = select_running(condition, [full_like(x, np.nan)], [full_like(x, 1.0)])
    return mul(x, factor)
