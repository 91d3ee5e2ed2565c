"""The family of cumulative reductions: each result reduces the elements up to its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lawful import ops
from lawful.core import ArgumentTypeError, Call, Choose, Declaration, Primitive, ShapedArray, Zero, get_aval, kind
from lawful.ops._elementwise.arithmetic.arithmetic import abs, add, div, max, min, mul, neg, sub
from lawful.ops._elementwise.comparison import eq, ne
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._elementwise.transcendental.hyperbolic import logistic
from lawful.ops._elementwise.transcendental.logaddexp import lower_logaddexp
from lawful.ops._products.precision import OF_COMPLEX_INFINITY
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.dtypes import accumulation_dtype, check_kind, highest, lowest
from lawful.ops._support.operation_counts import one_an_operand_element
from lawful.ops._support.promotion import cast
from lawful.ops._support.structural import canonical_axis

__all__ = [
    "cumlogsumexp",
    "cumlogsumexp_p",
    "cummax",
    "cummax_p",
    "cummin",
    "cummin_p",
    "cumprod",
    "cumprod_p",
    "cumsum",
    "cumsum_p",
]

Values = tuple[Any, ...]


class CumulativeReduction(Protocol):
    """A function that returns the running reduction of an array along a dimension."""

    def __call__(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any: ...


def _cumulative(
    name: str,
    doc: str,
    ufunc: np.ufunc,
    hlo: str | Callable[[Any, Any, Any], Any],
    unit: Callable[[np.dtype[Any]], Any],
    *,
    kinds: str,
    example: tuple[str, str],
    derivative: Callable[[Any, Any, Any, int, bool], Any] | None = None,
) -> tuple[CumulativeReduction, Primitive]:
    """Declares a cumulative reduction.

    Args:
      name: the primitive's name, and the function's.
      doc: the first line of the function's docstring.
      ufunc: the binary NumPy function that is repeated.
      hlo: the StableHLO op that is repeated, or ``lower(ctx, left, right)`` of two scalars.
      unit: gives, for a dtype, the value of an empty reduction.
      kinds: the dtype kinds that it is defined for.
      derivative: ``derivative(tangent, ans, x, axis, reverse)`` gives the output tangent. None where the op is linear:
        it is its own derivative, and its transpose begins at the other end.
      example: a call and what it prints, for the docstring.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", one_an_operand_element)

    def function(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        aval = get_aval(operand)
        check_kind(name, aval, kinds)
        return primitive.bind(operand, axis=canonical_axis(name, axis, aval.ndim), reverse=bool(reverse))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Args:
      operand: an array with at least one dimension.
      axis: the dimension; a negative one is counted from the last.
      reverse: whether to begin at the end.

    Raises:
      ArgumentTypeError: the op is not defined for this dtype.
      AxisError: there is no such dimension.

    >>> {example[0]}
    {example[1]}

    Source: ``jax.lax.{name}``.
    """

    @primitive.def_impl
    def impl(x: Any, *, axis: int, reverse: bool) -> Any:
        wide = accumulation_dtype(x.dtype)
        if reverse:
            x = np.flip(x, axis)
        with np.errstate(invalid="ignore"):  # np.logaddexp warns about NaN arguments
            out = ufunc.accumulate(x.astype(wide, copy=False), axis=axis, dtype=wide)
        if reverse:
            out = np.flip(out, axis)
        return out if wide == x.dtype else cast(out, x.dtype)

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        check_kind(f"{name}_p", x, kinds)
        if not 0 <= axis < x.ndim:
            raise ArgumentTypeError(
                f"{name}_p: expected an axis in 0 to {x.ndim - 1}, got {axis} for {x}; "
                f"call lawful.ops.{name}, which takes a negative axis too"
            )
        return ShapedArray(x.shape, x.dtype)

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        ans = primitive.bind(x, axis=axis, reverse=reverse)
        aval = get_aval(ans)
        if type(t) is Zero or kind(aval.dtype) not in "fc":
            return ans, Zero(aval.to_tangent_aval())
        if derivative is None:
            return ans, primitive.bind(t, axis=axis, reverse=reverse)
        return ans, derivative(t, ans, x, axis, reverse)

    if derivative is None:

        @primitive.def_transpose
        def transpose(ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
            return [Zero(x.aval) if type(ct) is Zero else primitive.bind(ct, axis=axis, reverse=not reverse)]
    else:
        primitive.declare_absent("transpose", "it is not linear")

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int], *, axis: int, reverse: bool) -> tuple[Any, int]:
        return primitive.bind(args[0], axis=axis + (axis >= dims[0]), reverse=reverse), dims[0]

    @primitive.def_lowering
    def lower(ctx: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        (aval,) = ctx.avals_in
        if not aval.size:
            return x
        wide = aval.update(dtype=accumulation_dtype(aval.dtype))
        narrow = wide.dtype != aval.dtype
        if narrow:
            x = ctx.hlo.convert(ctx.tensor_type(wide), x)
        out = _reduce_window(ctx, x, wide, axis, reverse, hlo, cast(unit(aval.dtype), wide.dtype))
        return ctx.hlo.convert(ctx.tensor_type(aval), out) if narrow else out

    def sample(choose: Choose) -> Call:
        shape = choose.shape(min_ndim=1)
        params = {"axis": choose.integer(0, len(shape) - 1), "reverse": choose.one_of((False, True))}
        return (ShapedArray(shape, choose.dtype(kinds)),), params

    primitive.declaration = Declaration(
        sample=sample,
        reference=_reference(ufunc),
        kinds=kinds,
        linear=((0,),) if derivative is None else (),
        unequal=(OF_COMPLEX_INFINITY,) if ufunc is np.multiply else (),
    )
    return function, primitive


def _reference(ufunc: np.ufunc) -> Callable[..., Any]:
    """Returns a reference implementation that reduces each prefix, in the order in which the op goes on."""

    def fold(x: Any, *, axis: int, reverse: bool) -> Any:
        wide = accumulation_dtype(x.dtype)
        front = np.moveaxis(x.astype(wide), axis, 0)
        out = np.empty_like(front)
        for index in range(len(front)):
            prefix = front[index:][::-1] if reverse else front[: index + 1]
            out[index] = ufunc.reduce(prefix, axis=0, dtype=wide)
        return cast(np.moveaxis(out, 0, axis), x.dtype)

    return fold


def _reduce_window(
    ctx: Any,
    x: Any,
    aval: ShapedArray,
    axis: int,
    reverse: bool,
    hlo: str | Callable[[Any, Any, Any], Any],
    unit: Any,
) -> Any:
    """Reduces at each position a window that ends there and is as long as the dimension; XLA makes this a scan."""
    window = [1] * aval.ndim
    window[axis] = aval.shape[axis]
    padding = np.zeros((aval.ndim, 2), np.int64)
    padding[axis, int(reverse)] = aval.shape[axis] - 1
    op = ctx.hlo.ReduceWindowOp(
        [ctx.tensor_type(aval)],
        [x],
        [ctx.constant(unit)],
        ctx.i64_array(window),
        padding=ctx.ir.DenseElementsAttr.get(padding),
    )
    scalar = ctx.tensor_type(ShapedArray((), aval.dtype))
    with ctx.block(op.regions[0], [scalar, scalar]) as (left, right):
        ctx.hlo.return_([getattr(ctx.hlo, hlo)(left, right) if isinstance(hlo, str) else hlo(ctx, left, right)])
    return op.results[0]


# Derivatives


def _scan(combine: Callable[[Values, Values], Values], values: Values, axis: int, reverse: bool) -> Values:
    """Returns the inclusive scan of tuples of arrays by an associative function.

    Pairs of neighbours are combined and scanned recursively; the positions between are computed from that. The work is
    linear in the number of elements, and consists of ops that differentiate by themselves.
    """
    if reverse:
        values = tuple([ops.rev(x, (axis,)) for x in values])
        return tuple([ops.rev(x, (axis,)) for x in _scan(combine, values, axis, False)])
    shape = get_aval(values[0]).shape
    size = shape[axis]
    if size < 2:
        return values
    half = size // 2

    def part(x: Any, start: int, stop: int) -> Any:
        return ops.slice_in_dim(x, start, stop, axis=axis)

    def column(x: Any, index: int) -> Any:
        """Returns the first or second of each pair of neighbours."""
        paired = reshape(part(x, 0, 2 * half), (*shape[:axis], half, 2, *shape[axis + 1 :]))
        kept = (*shape[:axis], half, *shape[axis + 1 :])
        return reshape(ops.slice_in_dim(paired, index, index + 1, axis=axis + 1), kept)

    def interleave(x: Any, y: Any) -> Any:
        expanded = (*shape[:axis], half, 1, *shape[axis + 1 :])
        both = ops.concatenate([reshape(x, expanded), reshape(y, expanded)], axis + 1)
        return reshape(both, (*shape[:axis], 2 * half, *shape[axis + 1 :]))

    first = even = tuple([column(x, 0) for x in values])
    odd = _scan(combine, combine(first, tuple([column(x, 1) for x in values])), axis, False)
    if half > 1:
        before, after = tuple([part(x, 0, half - 1) for x in odd]), tuple([part(x, 1, half) for x in first])
        between = combine(before, after)
        even = tuple([ops.concatenate([part(x, 0, 1), y], axis) for x, y in zip(first, between, strict=True)])
    out = tuple([interleave(x, y) for x, y in zip(even, odd, strict=True)])
    if size == 2 * half:
        return out
    last = combine(tuple([part(x, half - 1, half) for x in odd]), tuple([part(x, size - 1, size) for x in values]))
    return tuple([ops.concatenate([x, y], axis) for x, y in zip(out, last, strict=True)])


def _derivative_of_prod(t: Any, ans: Any, x: Any, axis: int, reverse: bool) -> Any:
    return ops.product_tangent_p.bind(x, t, axes=(axis,), cumulative=True, reverse=reverse)


def _derivative_of_extremum(extremum: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any, int, bool], Any]:
    """Returns a derivative rule that divides the derivative equally among tied elements."""

    def combine(left: Values, right: Values) -> Values:
        best = extremum(left[0], right[0])
        is_left, is_right = eq(left[0], best), eq(right[0], best)
        sums = [
            add(ops.where(is_left, x, 0), ops.where(is_right, y, 0)) for x, y in zip(left[1:], right[1:], strict=True)
        ]
        return best, *sums

    def derivative(t: Any, ans: Any, x: Any, axis: int, reverse: bool) -> Any:
        aval = get_aval(x)
        # A NaN equals no element: from there on the count and the derivative are 0, in both modes.
        is_number = eq(x, x)
        count = convert_element_type(is_number, np.int64)
        _, count, total = _scan(combine, (x, count, ops.where(is_number, t, 0)), axis, reverse)
        return div(total, convert_element_type(ops.where(eq(count, 0), 1, count), aval.dtype))

    return derivative


def _derivative_of_logsumexp(t: Any, ans: Any, x: Any, axis: int, reverse: bool) -> Any:
    """Combines the tangent of each element with that of the sum before it, by their softmax weights.

    The weight of the first element is 1. After it the weights are 0 where all elements are -∞, and 1 for each element
    that is +∞. From a NaN on the derivative is 0 in both modes, as that of `cummax`.
    """
    config = [(0, 0, 0)] * get_aval(x).ndim
    config[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    previous = ops.pad(ans, np.nan, config)
    # NaN, which is before the first element, and two infinities of one sign have no difference.
    are_equal_infinities = ops.bitwise_and(eq(previous, x), eq(abs(x), np.inf))
    difference = sub(previous, ops.where(are_equal_infinities, np.nan, x))
    is_known = eq(difference, difference)
    equal = convert_element_type(ops.bitwise_or(ne(previous, previous), eq(x, np.inf)), get_aval(x).dtype)
    difference = ops.where(is_known, difference, 0)
    before, here = [ops.where(is_known, logistic(y), equal) for y in (difference, neg(difference))]

    def combine(left: Values, right: Values) -> Values:
        return mul(left[0], right[0]), add(mul(right[0], left[1]), right[1])

    total = _scan(combine, (before, mul(here, t)), axis, reverse)[1]
    return ops.where(eq(ans, ans), total, 0)


# The members

cumsum, cumsum_p = _cumulative(
    "cumsum",
    "Returns the sum of all elements up to each position, in the dtype of the operand.",
    np.add,
    "add",
    lambda dtype: dtype.type(0),
    kinds="iufc",
    example=("cumsum(np.array([2, 3, 1]))", "array([2, 5, 6])"),
)
cumprod, cumprod_p = _cumulative(
    "cumprod",
    "Returns the product of all elements up to each position, in the dtype of the operand.",
    np.multiply,
    "multiply",
    lambda dtype: dtype.type(1),
    kinds="iufc",
    derivative=_derivative_of_prod,
    example=("cumprod(np.array([2, 3, 1]))", "array([2, 6, 6])"),
)
cummax, cummax_p = _cumulative(
    "cummax",
    "Returns the largest of all elements up to each position; NaN after a NaN, where the derivative is 0.",
    np.maximum,
    "maximum",
    lowest,
    kinds="biuf",
    derivative=_derivative_of_extremum(max),
    example=("cummax(np.array([2, 3, 1]))", "array([2, 3, 3])"),
)
cummin, cummin_p = _cumulative(
    "cummin",
    "Returns the smallest of all elements up to each position; NaN after a NaN, where the derivative is 0.",
    np.minimum,
    "minimum",
    highest,
    kinds="biuf",
    derivative=_derivative_of_extremum(min),
    example=("cummin(np.array([2, 3, 1]))", "array([2, 2, 1])"),
)
cumlogsumexp, cumlogsumexp_p = _cumulative(
    "cumlogsumexp",
    "Returns the logarithm of the sum of the exponentials of all elements up to each position, without overflow; "
    "NaN after a NaN, where the derivative is 0.",
    np.logaddexp,
    lower_logaddexp,
    lowest,
    kinds="f",
    derivative=_derivative_of_logsumexp,
    example=("cumlogsumexp(np.array([1000.0, 1000.0])).round(3)", "array([1000.   , 1000.693])"),
)
