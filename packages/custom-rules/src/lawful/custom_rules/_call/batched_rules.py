"""The rules of a batched call, from the rules of one element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.batching import AxisData, place_batch_dim
from lawful.core import ShapedArray, UndefinedPrimal, Zero, get_aval
from lawful.custom_rules._call.batched_run import run_batched, run_derivative
from lawful.custom_rules._call.rules import CallRules, Derivative, Dims, Transpose
from lawful.ops import add_batch_dim, div, mul, reduce_sum
from lawful.staging import kept


class Layout:
    """The batch dimensions of the results of a batched call: in front, or none.

    The function and its rules must agree on them. The first of them that runs determines the layout.

    Args:
      in_front: whether all results are batches, also those that all elements share.
      dims: the batch dimensions, if they are determined already.
    """

    __slots__ = ("avals", "dims", "in_front")

    def __init__(self, in_front: bool, dims: Sequence[int | None] | None = None) -> None:
        self.in_front = in_front
        self.dims = dims
        #: The types of the results of one element; None until they are known.
        self.avals: list[ShapedArray] | None = None

    def determine(self, found: Dims) -> Dims:
        """Returns the batch dimensions of the results; if they are not determined yet, ``found`` determines them."""
        if self.dims is None:
            self.dims = [0 if self.in_front or dim is not None else None for dim in found]
        return self.dims


def batched_rules(
    rules: CallRules, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray], layout: Layout
) -> CallRules:
    """Returns the rules of a batched call.

    Args:
      rules: the rules of one element.
      axis_data: the mapped axis.
      dims: the batch dimensions of the operands.
      avals: the types of the operands of one element.
      layout: the layout of the results; with a transpose rule, all have their batch dimension in front.
    """
    jvp, vjp, transpose = rules.jvp, rules.vjp, rules.transpose
    return CallRules(
        ("vmap", axis_data, tuple(dims), rules.key),
        jvp=jvp and _batched_derivative(jvp, axis_data, dims, avals, layout),
        vjp=vjp and _batched_derivative(vjp, axis_data, dims, avals, layout, reverse=True),
        transpose=transpose and _batched_transpose(transpose, axis_data, dims, avals),
        linear=rules.linear,
        closed_over=rules.closed_over,
    )


def _batched_derivative(
    rule: Derivative, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray], layout: Layout,
    *, reverse: bool = False,
) -> Derivative:  # fmt: skip
    """Returns the batched form of a derivative rule.

    Args:
      rule: the rule of one element.
      axis_data: the mapped axis.
      dims: the batch dimensions of the operands.
      avals: the types of the operands of one element.
      layout: the layout of the results.
      reverse: whether it is a rule of reverse mode. Such a rule need not be linear, so it takes the cotangent of each
        element, not their sum: each element has a tangent of its own also of an operand that all share.
    """

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        size, tangent_dims = axis_data.size, dims
        if reverse:
            tangents = [
                t if type(t) is Zero or dim is not None else add_batch_dim(t, size)
                for t, dim in zip(tangents, dims, strict=True)
            ]
            tangent_dims = [0 if dim is None else dim for dim in dims]
        run = run_derivative(rule, axis_data, primals, tangents, dims, tangent_dims, avals)
        layout.avals = run.avals
        wanted = layout.determine(run.out_dims(reverse=reverse))
        placed_outs, placed_tangents = [], []
        for x, t, (dim, t_dim), to in zip(run.outs, run.tangents, run.dims, wanted, strict=True):
            placed_outs.append(place_batch_dim(x, dim, to, size))
            zero = Zero(get_aval(placed_outs[-1]).to_tangent_aval())
            placed_tangents.append(zero if type(t) is Zero else _placed_tangent(t, t_dim, to, size))
        return placed_outs, placed_tangents

    return derivative


def _placed_tangent(t: Any, dim: int | None, to: int | None, size: int) -> Any:
    """Moves the batch dimension of a tangent to ``to``.

    If a collective made the result equal for all elements, its tangent is the mean of their tangents. In reverse, each
    element gets its share of the cotangent, and the shares add up to the cotangent.
    """
    return place_batch_dim(t, dim, to, size) if dim is None or to is not None else div(reduce_sum(t, (dim,)), size)


def _batched_transpose(rule: Transpose, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray]) -> Transpose:
    """Returns the batched form of a transpose rule; its cotangents have their batch dimension in front."""

    def transpose(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        known = [type(x) is not UndefinedPrimal for x in args]
        given = [type(ct) is not Zero for ct in cts]
        ct_avals = [
            aval.update(shape=aval.shape[1:], weak_type=False)
            for aval in (ct.aval if type(ct) is Zero else get_aval(ct) for ct in cts)
        ]
        nonzeros: list[bool] = []

        def of_elements(*elements: Any) -> list[Any]:
            nonlocal nonzeros
            rest = iter(elements)
            inner = [
                next(rest) if is_known else UndefinedPrimal(aval) for is_known, aval in zip(known, avals, strict=True)
            ]
            inner_cts = [next(rest) if nonzero else Zero(aval) for nonzero, aval in zip(given, ct_avals, strict=True)]
            cts_in = rule(inner_cts, inner)
            nonzeros = [ct is not None and type(ct) is not Zero for ct in cts_in]
            return kept(cts_in, nonzeros)

        run = run_batched(
            of_elements, axis_data, [*kept(args, known), *kept(cts, given)],
            [*kept(dims, known), *[0] * sum(given)], [*kept(avals, known), *kept(ct_avals, given)],
        )  # fmt: skip
        rest = iter(zip(run.outs, run.dims, strict=True))
        return [
            None if is_known
            else _operand_cotangent(*next(rest), dim, axis_data.size) if nonzero
            else Zero(x.aval)
            for x, dim, is_known, nonzero in zip(args, dims, known, nonzeros, strict=True)
        ]  # fmt: skip

    return transpose


def _operand_cotangent(ct: Any, ct_dim: int | None, dim: int | None, size: int) -> Any:
    """Returns the cotangent of an operand, from a batch of cotangents; they add up if all elements share the operand.

    Args:
      ct: the cotangent of each element.
      ct_dim: its batch dimension.
      dim: the batch dimension of the operand.
      size: the number of elements.
    """
    if dim is not None:
        return place_batch_dim(ct, ct_dim, dim, size)
    return mul(ct, size) if ct_dim is None else reduce_sum(ct, (ct_dim,))
