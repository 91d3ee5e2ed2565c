"""The rules of a call, as functions of flat lists of operands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lawful.batching import AxisData
from lawful.core import ShapedArray, Zero
from lawful.staging import kept

#: A function of operands.
Flat = Callable[..., list[Any]]
#: The batch dimension of each value, None where it has none.
Dims = Sequence[int | None]
#: Maps primals and tangents to results and their tangents; a tangent may be a symbolic ``Zero``.
Derivative = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]
#: Maps cotangents of the results, and operands with an ``UndefinedPrimal`` for each linear one, to cotangents of the
#: operands. Cotangents may be a symbolic ``Zero``.
Transpose = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
#: Maps the mapped axis, operands and their batch dimensions to results and their batch dimensions.
Batch = Callable[[AxisData, Sequence[Any], Dims], tuple[list[Any], list[int | None]]]


@dataclass(frozen=True, slots=True, repr=False)
class CallRules:
    """The rules of a call.

    Attributes:
      key: identifies the rules: rules with equal keys do the same.
      jvp: the rule of forward mode.
      vjp: the rule of reverse mode, as a derivative whose linear part can only be transposed.
      transpose: the transpose with respect to the linear operands.
      batch: the batching rule.
      linear: which operands the function is jointly linear in; empty if this is unknown.
      closed_over: the number of operands, the first ones, that the function closes over. Derivative rules do not cover
        them.

    >>> CallRules("double", jvp=lambda primals, tangents: ([2.0 * x for x in primals], [2.0 * t for t in tangents]))
    <jvp>
    """

    key: Hashable
    jvp: Derivative | None = field(default=None, compare=False)
    vjp: Derivative | None = field(default=None, compare=False)
    transpose: Transpose | None = field(default=None, compare=False)
    batch: Batch | None = field(default=None, compare=False)
    linear: tuple[bool, ...] = ()
    closed_over: int = 0

    def __repr__(self) -> str:
        return f"<{', '.join(name for name in ('jvp', 'vjp', 'transpose', 'batch') if getattr(self, name))}>"


def with_closed_over(rules: CallRules, count: int) -> CallRules:
    """Returns the rules of a call with ``count`` more operands in front, which the function closes over."""
    jvp, vjp, transpose, batch = rules.jvp, rules.vjp, rules.transpose, rules.batch
    return CallRules(
        ("closed over", count, rules.key),
        jvp=jvp and (lambda primals, tangents: jvp(primals[count:], tangents[count:])),
        vjp=vjp and (lambda primals, tangents: vjp(primals[count:], tangents[count:])),
        transpose=transpose and (lambda cts, args: [*[None] * count, *transpose(cts, args[count:])]),
        batch=batch and (lambda axis_data, args, dims: batch(axis_data, args[count:], dims[count:])),
        linear=(*(False,) * count, *rules.linear) if rules.linear else (),
        closed_over=rules.closed_over + count,
    )


def of_used_outputs(rules: CallRules, used: Sequence[bool], out_avals: Sequence[ShapedArray]) -> CallRules:
    """Returns the rules of a call that gives only the used results.

    Args:
      rules: the rules of the call with all results.
      used: for each result, whether it is used.
      out_avals: the types of all results.
    """
    transpose = rules.transpose

    def derivative(rule: Derivative) -> Derivative:
        def of_used(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            outs, tangents_out = rule(primals, tangents)
            return kept(outs, used), kept(tangents_out, used)

        return of_used

    def transposed(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        assert transpose is not None
        given = iter(cts)
        zeros = [Zero(aval.to_tangent_aval()) for aval in out_avals]
        return transpose([next(given) if use else zero for use, zero in zip(used, zeros, strict=True)], args)

    def batch(axis_data: AxisData, args: Sequence[Any], dims: Dims) -> tuple[list[Any], list[int | None]]:
        assert rules.batch is not None
        outs, out_dims = rules.batch(axis_data, args, dims)
        return kept(outs, used), kept(out_dims, used)

    return CallRules(
        ("used outputs", tuple(used), rules.key),
        jvp=rules.jvp and derivative(rules.jvp),
        vjp=rules.vjp and derivative(rules.vjp),
        transpose=transpose and transposed,
        batch=rules.batch and batch,
        linear=rules.linear,
        closed_over=rules.closed_over,
    )
