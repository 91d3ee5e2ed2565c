"""The family of reductions: one declaration makes the primitive, all of its rules and its function.

A primitive reduces over the dimensions in its parameter ``axes`` and keeps the dtype; the functions that promote
as NumPy does, `sum`, `mean`, `any` and so on, are in `lawful.ops._numpy_protocol.numpy_reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from lawful import ops
from lawful.core import (
    Call,
    Choose,
    Declaration,
    Hook,
    Primitive,
    ShapedArray,
    Zero,
    get_aval,
    kind,
    of_numpy,
)
from lawful.ops._elementwise.arithmetic.arithmetic import div
from lawful.ops._elementwise.comparison import eq
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._products.precision import OF_COMPLEX_INFINITY
from lawful.ops._reduction.axes import batch_reduced, check_axes, kept_axes, repeat, sample_axes
from lawful.ops._reduction.complex_extrema import extremum_of_complex
from lawful.ops._support.dtypes import KIND_NAMES, accumulation_dtype, check_kind, highest, lowest
from lawful.ops._support.operation_counts import one_an_operand_element
from lawful.ops._support.promotion import cast, convert
from lawful.ops._support.structural import canonical_axes

__all__ = [
    "reduce_and",
    "reduce_and_p",
    "reduce_max",
    "reduce_max_p",
    "reduce_min",
    "reduce_min_p",
    "reduce_or",
    "reduce_or_p",
    "reduce_prod",
    "reduce_prod_p",
    "reduce_sum",
    "reduce_sum_p",
    "reduce_xor",
    "reduce_xor_p",
]

Shape = tuple[int, ...]
#: Returns a function that reduces C-contiguous arrays of a shape and dtype over axes faster than NumPy, or None.
Faster = Callable[[Shape, np.dtype[Any], Shape], Callable[[Any], Any] | None]


def _no_faster_way(shape: Shape, dtype: np.dtype[Any], axes: Shape) -> None:
    return None


sum_hook: Final[Hook[Faster]] = Hook("sums", _no_faster_way)


class Reduction(Protocol):
    """A function that reduces an array over some of its dimensions."""

    def __call__(self, operand: Any, axes: Sequence[int]) -> Any: ...


def _reduces_nothing(shape: Shape, axes: Shape) -> bool:
    """Returns whether all reduced dimensions have size 1. The ufunc must not run then: ``1 * complex(inf)`` is NaN."""
    return all([shape[axis] == 1 for axis in axes])


def _reduction(
    name: str,
    doc: str,
    ufunc: np.ufunc,
    hlo: str,
    unit: Callable[[np.dtype[Any]], Any],
    *,
    kinds: str,
    example: tuple[str, str],
    derivative: Callable[[Any, Any, Any, Shape], Any] | None = None,
    cotangent: Callable[[Any, ShapedArray, Shape], Any] | None = None,
    faster: Hook[Faster] | None = None,
) -> tuple[Reduction, Primitive]:
    """Declares a reduction.

    Args:
      name: the primitive's name, and the function's.
      doc: the first line of the function's docstring.
      ufunc: the binary NumPy function that is repeated.
      hlo: the StableHLO op that is repeated.
      unit: gives, for a dtype, the value of an empty reduction.
      kinds: the dtype kinds that it is defined for.
      derivative: ``derivative(tangent, ans, x, axes)`` gives the output tangent, where there is one; a
        linear reduction is its own.
      cotangent: ``cotangent(ct, aval, axes)`` gives the operand's cotangent, where the reduction is linear.
      faster: its hook gives a function that reduces C-contiguous arrays of a type faster than
        ``ufunc.reduce``, where there is one.
      example: a call and what it prints, for the docstring.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", one_an_operand_element)
    if cotangent is not None:

        def derivative(t: Any, ans: Any, x: Any, axes: Shape) -> Any:
            return primitive.bind(t, axes=axes)

    def function(operand: Any, axes: Sequence[int]) -> Any:
        aval = get_aval(operand)
        check_kind(name, aval, kinds)
        return primitive.bind(operand, axes=tuple(sorted(canonical_axes(name, axes, aval.ndim))))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Args:
      operand: an array of {", ".join(KIND_NAMES[letter] for letter in kinds)} dtype.
      axes: the dimensions that are reduced; a negative one is counted from the last.

    Raises:
      ArgumentTypeError: the operand has another dtype.
      AxisError: there is no such dimension.
      ArgumentValueError: a dimension is named twice.

    >>> {example[0]}
    {example[1]}

    Source: ``jax.lax.{name}``.
    """

    @primitive.def_impl
    def impl(x: Any, *, axes: Shape) -> Any:
        x = np.asarray(x)
        if _reduces_nothing(x.shape, axes):
            return np.squeeze(x, axes).copy()[()]
        dtype, wide = x.dtype, accumulation_dtype(x.dtype)
        if wide != dtype:
            x = x.astype(wide)
        by_product = None if faster is None else faster.use(x.shape, wide, axes)
        if by_product is not None and x.flags.c_contiguous:
            out = by_product(x)
        else:
            out = ufunc.reduce(x, axis=axes, dtype=wide, initial=cast(unit(dtype), wide))
        return out if wide == dtype else cast(out, dtype)

    @primitive.def_rule_as("numpy")
    def specialised(avals: Sequence[ShapedArray], compile: Any, *, axes: Shape) -> Callable[..., Any]:
        (aval,) = avals
        function = primitive.rule("impl")
        is_plain = accumulation_dtype(aval.dtype) == aval.dtype and not _reduces_nothing(aval.shape, axes)
        if function is not impl or not aval.shape or not is_plain:
            return partial(function, axes=axes)
        dtype, initial, reduce = aval.dtype, unit(aval.dtype), ufunc.reduce
        by_product = None if faster is None else faster.use(aval.shape, dtype, axes)
        if by_product is None:
            return of_numpy(lambda x: reduce(x, axis=axes, dtype=dtype, initial=initial))
        return of_numpy(
            lambda x: by_product(x) if x.flags.c_contiguous else reduce(x, axis=axes, dtype=dtype, initial=initial)
        )

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, *, axes: Shape) -> ShapedArray:
        check_kind(f"{name}_p", x, kinds)
        check_axes(name, x, axes)
        return ShapedArray(tuple([x.shape[axis] for axis in kept_axes(x.ndim, axes)]), x.dtype)

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], *, axes: Shape) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        ans = primitive.bind(x, axes=axes)
        aval = get_aval(ans)
        empty = not get_aval(x).size
        if derivative is None or type(t) is Zero or empty or kind(aval.dtype) not in "fc":
            return ans, Zero(aval.to_tangent_aval())
        return ans, derivative(t, ans, x, axes)

    if cotangent is None:
        primitive.declare_absent("transpose", "it is not linear")
    else:

        @primitive.def_transpose
        def transpose_rule(ct: Any, x: Any, *, axes: Shape) -> list[Any]:
            return [Zero(x.aval) if type(ct) is Zero else cotangent(ct, x.aval, axes)]

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int], *, axes: Shape) -> tuple[Any, int]:
        return batch_reduced(primitive, args[0], dims[0], axes)

    @primitive.def_lowering
    def lower(ctx: Any, x: Any, *, axes: Shape) -> Any:
        (aval,) = ctx.avals_in
        if not axes:
            return x
        if aval.dtype.kind == "c" and hlo in ("maximum", "minimum"):
            return ctx.apply(lambda z: extremum_of_complex(z, axes, largest=hlo == "maximum"), x)[0]
        # The sum of a negated array negates the fewer results instead. By 0 - s a zero sum has the same sign.
        negated = ctx.operand_of("stablehlo.negate", x) if hlo == "add" else None
        if negated is not None:
            return ctx.hlo.subtract(ctx.zeros(ctx.avals_out[0]), lower(ctx, negated, axes=axes))
        wide = accumulation_dtype(aval.dtype)
        if wide == aval.dtype:
            return ctx.reduce(x, unit(wide), axes, hlo)
        x = ctx.hlo.convert(ctx.tensor_type(aval.update(dtype=wide)), x)
        out = ctx.reduce(x, cast(unit(aval.dtype), wide), axes, hlo)
        return ctx.hlo.convert(ctx.tensor_type(ctx.avals_out[0]), out)

    def sample(choose: Choose) -> Call:
        shape = choose.shape()
        return (ShapedArray(shape, choose.dtype(kinds)),), {"axes": sample_axes(choose, len(shape))}

    primitive.declaration = Declaration(
        sample=sample,
        reference=_reference(ufunc, unit),
        kinds=kinds,
        linear=((0,),) if cotangent is not None else (),
        differentiable=derivative is not None,
        unequal=(OF_COMPLEX_INFINITY,) if ufunc is np.multiply else (),
    )
    return function, primitive


def _reference(ufunc: np.ufunc, unit: Callable[[np.dtype[Any]], Any]) -> Callable[..., Any]:
    """Returns a reference implementation: a sequential fold over the reduced elements."""

    def fold(x: Any, *, axes: Shape) -> Any:
        x = np.asarray(x)
        wide = accumulation_dtype(x.dtype)
        front = np.moveaxis(x, axes, tuple(range(len(axes))))
        kept = front.shape[len(axes) :]
        total = np.full(kept, unit(x.dtype)).astype(wide)
        for index in np.ndindex(front.shape[: len(axes)]):
            total = ufunc(total, front[index].astype(wide))
        return cast(total, x.dtype)

    return fold


# Derivatives


def _transpose_sum(ct: Any, aval: ShapedArray, axes: Shape) -> Any:
    return convert(repeat(ct, aval, axes), aval.dtype, aval.weak_type)


def _derivative_of_prod(t: Any, ans: Any, x: Any, axes: Shape) -> Any:
    return ops.product_tangent_p.bind(x, t, axes=axes, cumulative=False, reverse=False)


def _derivative_of_extremum(t: Any, ans: Any, x: Any, axes: Shape) -> Any:
    """Divides the derivative equally among tied elements; the derivative of a NaN is NaN, in both modes."""
    aval = get_aval(x)
    is_nan = ops.ne(ans, ans)
    chosen = ops.bitwise_or(eq(x, repeat(ans, aval, axes)), repeat(is_nan, aval, axes))
    count = reduce_sum(convert_element_type(chosen, np.int64), axes)
    total = reduce_sum(ops.where(chosen, t, 0), axes)
    return div(total, ops.where(is_nan, np.nan, convert_element_type(count, aval.dtype)))


# The members


def _all_ones(dtype: np.dtype[Any]) -> Any:
    return np.invert(np.zeros((), dtype))[()]


reduce_sum, reduce_sum_p = _reduction(
    "reduce_sum",
    "Returns the sum over some dimensions, in the dtype of the operand.",
    np.add,
    "add",
    lambda dtype: dtype.type(0),
    kinds="iufc",
    cotangent=_transpose_sum,
    faster=sum_hook,
    example=("reduce_sum(np.array([[1, 2], [3, 4]]), (1,))", "array([3, 7])"),
)
reduce_prod, reduce_prod_p = _reduction(
    "reduce_prod",
    "Returns the product over some dimensions, in the dtype of the operand.",
    np.multiply,
    "multiply",
    lambda dtype: dtype.type(1),
    kinds="iufc",
    derivative=_derivative_of_prod,
    example=("reduce_prod(np.array([[1, 2], [3, 4]]), (1,))", "array([ 2, 12])"),
)
reduce_max, reduce_max_p = _reduction(
    "reduce_max",
    "Returns the largest element over some dimensions, NaN if one is; of none, the lowest value of the dtype.",
    np.maximum,
    "maximum",
    lowest,
    kinds="biufc",
    derivative=_derivative_of_extremum,
    example=("reduce_max(np.array([[1, 2], [4, 3]]), (1,))", "array([2, 4])"),
)
reduce_min, reduce_min_p = _reduction(
    "reduce_min",
    "Returns the smallest element over some dimensions, NaN if one is; of none, the highest value of the dtype.",
    np.minimum,
    "minimum",
    highest,
    kinds="biufc",
    derivative=_derivative_of_extremum,
    example=("reduce_min(np.array([[1, 2], [4, 3]]), (1,))", "array([1, 3])"),
)
reduce_and, reduce_and_p = _reduction(
    "reduce_and",
    "Returns whether all elements over some dimensions are true, or the bits that all of them have.",
    np.bitwise_and,
    "and_",
    _all_ones,
    kinds="biu",
    example=("reduce_and(np.array([[True, True], [True, False]]), (1,))", "array([ True, False])"),
)
reduce_or, reduce_or_p = _reduction(
    "reduce_or",
    "Returns whether any element over some dimensions is true, or the bits that any of them has.",
    np.bitwise_or,
    "or_",
    lambda dtype: dtype.type(0),
    kinds="biu",
    example=("reduce_or(np.array([[True, False], [False, False]]), (1,))", "array([ True, False])"),
)
reduce_xor, reduce_xor_p = _reduction(
    "reduce_xor",
    "Returns whether an odd number of elements over some dimensions is true, or the bits of which that is so.",
    np.bitwise_xor,
    "xor",
    lambda dtype: dtype.type(0),
    kinds="biu",
    example=("reduce_xor(np.array([[True, False], [True, True]]), (1,))", "array([ True, False])"),
)
