"""The rules that a function carries, as functions of flat lists of operands, and what transformations make of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lawful.batching import AxisData, BatchTrace, place_batch_dim
from lawful.core import ShapedArray, UndefinedPrimal, Zero, current, get_aval, new_trace
from lawful.ops import add_batch_dim, div, mul, reduce_sum
from lawful.staging import kept

Flat = Callable[..., list[Any]]
Dims = Sequence[int | None]
#: Of primals and tangents to results and their tangents; a tangent may be a symbolic ``Zero``.
Derivative = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]
#: Of cotangents of the results, and operands of which the linear ones are an ``UndefinedPrimal``, to cotangents of the
#: operands; they may be a symbolic ``Zero``.
Transposed = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
#: Of the mapped axis, operands and their batch dimensions, to the results and theirs.
Batched = Callable[[AxisData, Sequence[Any], Dims], tuple[list[Any], list[int | None]]]


@dataclass(frozen=True, slots=True, repr=False)
class CallRules:
    """The rules of a call.

    Attributes:
      key: what tells rules apart: those with equal keys do the same.
      jvp: the derivative.
      vjp: the derivative, of which only the linear part is given backwards.
      transpose: the transpose, by the linear operands.
      batch: the batched form.
      linear: which operands the function is jointly linear in; empty if it is not known to be linear in any.
      closed_over: how many operands, the first ones, the function closes over: rules of derivatives are not about them.
    """

    key: Hashable
    jvp: Derivative | None = field(default=None, compare=False)
    vjp: Derivative | None = field(default=None, compare=False)
    transpose: Transposed | None = field(default=None, compare=False)
    batch: Batched | None = field(default=None, compare=False)
    linear: tuple[bool, ...] = ()
    closed_over: int = 0

    def __repr__(self) -> str:
        return f"<{', '.join(name for name in ('jvp', 'vjp', 'transpose', 'batch') if getattr(self, name))}>"


def after(rules: CallRules, count: int) -> CallRules:
    """Returns the rules of a call with so many more operands in front, which it closes over."""
    jvp, vjp, transpose, batch = rules.jvp, rules.vjp, rules.transpose, rules.batch
    return CallRules(
        ("after", count, rules.key),
        jvp=jvp and (lambda primals, tangents: jvp(primals[count:], tangents[count:])),
        vjp=vjp and (lambda primals, tangents: vjp(primals[count:], tangents[count:])),
        transpose=transpose and (lambda cts, args: [*[None] * count, *transpose(cts, args[count:])]),
        batch=batch and (lambda axis_data, args, dims: batch(axis_data, args[count:], dims[count:])),
        linear=(*(False,) * count, *rules.linear) if rules.linear else (),
        closed_over=rules.closed_over + count,
    )


def keeping(rules: CallRules, used: Sequence[bool], out_avals: Sequence[ShapedArray]) -> CallRules:
    """Returns the rules of a call of which only some results are used."""
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
        ("of outputs", tuple(used), rules.key),
        jvp=rules.jvp and derivative(rules.jvp),
        vjp=rules.vjp and derivative(rules.vjp),
        transpose=transpose and transposed,
        batch=rules.batch and batch,
        linear=rules.linear,
        closed_over=rules.closed_over,
    )


class Layout:
    """Where the results of a batched call have their batch dimensions: in front, or nowhere.

    Whichever of the function and its rules runs first decides, and the others follow.

    Args:
      in_front: whether all results are batches, also those that all elements share.
      dims: the batch dimensions, if they are decided.
    """

    __slots__ = ("avals", "dims", "in_front")

    def __init__(self, in_front: bool, dims: Sequence[int | None] | None = None) -> None:
        self.in_front = in_front
        self.dims = dims
        #: The types of the results of one element, once they are known.
        self.avals: list[ShapedArray] | None = None

    def decided(self, found: Dims) -> Dims:
        """Returns the batch dimensions of the results, decided by what was found if nothing else did."""
        if self.dims is None:
            self.dims = [0 if self.in_front or dim is not None else None for dim in found]
        return self.dims


def batched(
    rules: CallRules, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray], layout: Layout
) -> CallRules:
    """Returns the rules of a batched call.

    Args:
      rules: those of one element.
      axis_data: the mapped axis.
      dims: the batch dimensions of the operands.
      avals: the types of the operands of one element.
      layout: of the results; where there is a transpose rule, they have their batch dimensions in front.
    """
    jvp, vjp, transpose = rules.jvp, rules.vjp, rules.transpose
    return CallRules(
        ("vmap", axis_data, tuple(dims), rules.key),
        jvp=jvp and _batched_derivative(jvp, axis_data, dims, avals, layout),
        vjp=vjp and _batched_derivative(vjp, axis_data, dims, avals, layout, each=True),
        transpose=transpose and _batched_transpose(transpose, axis_data, dims, avals),
        linear=rules.linear,
        closed_over=rules.closed_over,
    )


def _batched_derivative(
    rule: Derivative, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray], layout: Layout, each: bool = False
) -> Derivative:
    """Returns the batched form of a rule.

    Args:
      rule: that of elements.
      axis_data: the mapped axis.
      dims: the batch dimensions of the operands.
      avals: the types of the operands of one element.
      layout: of the results.
      each: whether each element has a tangent of its own also of what all share: a rule of reverse mode, which need
        not be linear, is to be asked about the cotangents of each, not about their sum.
    """

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        tangent_dims = dims
        if each:
            tangents = [
                t if type(t) is Zero or dim is not None else add_batch_dim(t, axis_data.size)
                for t, dim in zip(tangents, dims, strict=True)
            ]
            tangent_dims = [0 if dim is None else dim for dim in dims]
        run = run_derivative(rule, axis_data, primals, tangents, dims, tangent_dims, avals, layout)
        size, placed_outs, placed_tangents = axis_data.size, [], []
        decided = layout.decided(run.decided(reverse=each))
        for x, t, (dim, t_dim), to in zip(run.outs, run.tangents, run.dims, decided, strict=True):
            placed_outs.append(place_batch_dim(x, dim, to, size))
            zero = Zero(get_aval(placed_outs[-1]).to_tangent_aval())
            placed_tangents.append(zero if type(t) is Zero else _placed_tangent(t, t_dim, to, size))
        return placed_outs, placed_tangents

    return derivative


def _placed_tangent(t: Any, dim: int | None, to: int | None, size: int) -> Any:
    """Returns a tangent with its batch dimension where it is wanted.

    Where all elements share a result of a collective, all have its tangent. Backwards, each is asked about its share of
    the cotangent, so that the shares of all add up to it.
    """
    return place_batch_dim(t, dim, to, size) if dim is None or to is not None else div(reduce_sum(t, (dim,)), size)


class DerivativeRun(NamedTuple):
    """The result of a rule that ran on batch elements.

    Attributes:
      outs: the results.
      tangents: their tangents.
      dims: the batch dimensions of each pair.
      collective: whether it applied a collective over the mapped axis.
    """

    outs: list[Any]
    tangents: list[Any]
    dims: list[tuple[int | None, int | None]]
    collective: bool

    def decided(self, *, reverse: bool) -> list[int | None]:
        """Returns the batch dimensions of the results: in front, or none where all elements share one.

        Args:
          reverse: whether it is a rule of reverse mode, which is asked about the cotangent of each element. Then a
            tangent is a batch also where the result is not. The result counts as shared if a collective made it so.
        """
        if reverse:
            return [None if dim is None and (t_dim is None or self.collective) else 0 for dim, t_dim in self.dims]
        return [None if pair == (None, None) else 0 for pair in self.dims]


def run_derivative(
    rule: Derivative, axis_data: AxisData, primals: Sequence[Any], tangents: Sequence[Any], dims: Dims,
    tangent_dims: Dims, avals: Sequence[ShapedArray], layout: Layout | None = None,
) -> DerivativeRun:  # fmt: skip
    """Runs a rule of elements of batches.

    Args:
      rule: of elements.
      axis_data: the mapped axis.
      primals: the operands.
      tangents: their tangents.
      dims: the batch dimensions of the operands.
      tangent_dims: those of the tangents.
      avals: the types of the operands of one element.
      layout: is told the types of the results of one element.
    """
    given = [type(t) is not Zero for t in tangents]
    nonzeros: list[bool] = []

    def of_elements(*elements: Any) -> list[Any]:
        nonlocal nonzeros
        rest = iter(elements[len(avals) :])
        zeros = [Zero(aval.to_tangent_aval()) for aval in avals]
        inner = [next(rest) if nonzero else zero for nonzero, zero in zip(given, zeros, strict=True)]
        outs, tangents_out = rule(elements[: len(avals)], inner)
        nonzeros = [type(t) is not Zero for t in tangents_out]
        return [*outs, *kept(tangents_out, nonzeros)]

    results, found, out_avals, collective = run_batched(
        of_elements, axis_data, [*primals, *kept(tangents, given)],
        [*dims, *kept(tangent_dims, given)], [*avals, *kept(avals, given)],
    )  # fmt: skip
    count = len(nonzeros)
    if layout is not None:
        layout.avals = out_avals[:count]
    rest = iter(zip(results[count:], found[count:], strict=True))
    zeros = [(Zero(aval.to_tangent_aval()), None) for aval in out_avals]
    pairs = [next(rest) if nonzero else zero for nonzero, zero in zip(nonzeros, zeros, strict=False)]
    both = [(dim, pair[1]) for dim, pair in zip(found[:count], pairs, strict=True)]
    return DerivativeRun(results[:count], [t for t, _ in pairs], both, collective)


def _batched_transpose(rule: Transposed, axis_data: AxisData, dims: Dims, avals: Sequence[ShapedArray]) -> Transposed:
    def transposed(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        known = [type(x) is not UndefinedPrimal for x in args]
        given = [type(ct) is not Zero for ct in cts]
        ct_avals = [
            ShapedArray(aval.shape[1:], aval.dtype)
            for aval in (ct.aval if type(ct) is Zero else get_aval(ct) for ct in cts)
        ]
        found_cts: list[bool] = []

        def of_elements(*elements: Any) -> list[Any]:
            nonlocal found_cts
            rest = iter(elements)
            inner = [
                next(rest) if is_known else UndefinedPrimal(aval) for is_known, aval in zip(known, avals, strict=True)
            ]
            inner_cts = [next(rest) if nonzero else Zero(aval) for nonzero, aval in zip(given, ct_avals, strict=True)]
            cts_in = rule(inner_cts, inner)
            found_cts = [ct is not None and type(ct) is not Zero for ct in cts_in]
            return kept(cts_in, found_cts)

        results, found, _, _ = run_batched(
            of_elements, axis_data, [*kept(args, known), *kept(cts, given)],
            [*kept(dims, known), *[0] * sum(given)], [*kept(avals, known), *kept(ct_avals, given)],
        )  # fmt: skip
        rest = iter(zip(results, found, strict=True))
        return [
            None if is_known
            else _cotangent_of(*next(rest), dim, axis_data.size) if is_found
            else Zero(x.aval)
            for x, dim, is_known, is_found in zip(args, dims, known, found_cts, strict=True)
        ]  # fmt: skip

    return transposed


def _cotangent_of(ct: Any, ct_dim: int | None, dim: int | None, size: int) -> Any:
    """Returns the cotangent of an operand from one for each element; those of an operand that all share add up."""
    if dim is not None:
        return place_batch_dim(ct, ct_dim, dim, size)
    return mul(ct, size) if ct_dim is None else reduce_sum(ct, (ct_dim,))


class BatchedRun(NamedTuple):
    """The result of a function that ran on batch elements.

    Attributes:
      outs: the results.
      dims: their batch dimensions.
      avals: the types of the results of one element.
      collective: whether it applied a collective over the mapped axis.
    """

    outs: list[Any]
    dims: list[int | None]
    avals: list[ShapedArray]
    collective: bool


def run_batched(
    function: Flat, axis_data: AxisData, operands: Sequence[Any], dims: Dims, avals: Sequence[ShapedArray]
) -> BatchedRun:
    """Runs a function of elements of batches.

    Args:
      function: of elements.
      axis_data: the mapped axis.
      operands: the batches.
      dims: their batch dimensions.
      avals: the types of elements, of which only the weakness matters.
    """
    trace = BatchTrace(current.trace, axis_data)
    with new_trace(trace):
        outs = function(
            *[trace.new_tracer(x, dim, aval.weak_type) for x, dim, aval in zip(operands, dims, avals, strict=True)]
        )
    out_avals = [get_aval(x) for x in outs]
    pairs = [trace.split(x) for x in outs]
    return BatchedRun([x for x, _ in pairs], [dim for _, dim in pairs], out_avals, trace.collective)


def element_avals(values: Sequence[Any], dims: Dims) -> list[ShapedArray]:
    """Returns the types of the elements of batches."""
    return [
        aval if dim is None else ShapedArray((*aval.shape[:dim], *aval.shape[dim + 1 :]), aval.dtype)
        for aval, dim in zip(map(get_aval, values), dims, strict=True)
    ]
