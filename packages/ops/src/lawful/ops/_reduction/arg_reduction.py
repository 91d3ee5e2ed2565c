"""The position of the largest or smallest element: one declaration for both."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    Interval,
    Primitive,
    ShapedArray,
    as_dtype,
    get_aval,
    is_float,
)
from lawful.ops._reduction.axes import batch_reduced, check_axes, kept_axes
from lawful.ops._reduction.complex_extrema import position_of_complex
from lawful.ops._support.dtypes import accumulation_dtype, check_kind, highest, lowest
from lawful.ops._support.operation_counts import one_an_operand_element
from lawful.ops._support.structural import canonical_axis, without_derivative

__all__ = ["argmax", "argmax_p", "argmin", "argmin_p"]

_KINDS = "biufc"


class ArgReduction(Protocol):
    """A function that finds an element along a dimension."""

    def __call__(self, operand: Any, axis: int, index_dtype: Any) -> Any: ...


def _check_index_dtype(name: str, size: int, index_dtype: np.dtype[Any]) -> None:
    if index_dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected an integer index_dtype, got {index_dtype}; use 'int64'")
    if size - 1 > np.iinfo(index_dtype).max:
        raise ArgumentValueError(
            f"{name}: expected an index_dtype that positions up to {size - 1} fit, got {index_dtype}; use 'int64'"
        )


def _arg_reduction(
    name: str,
    doc: str,
    numpy_function: Callable[..., Any],
    hlo: str,
    unit: Callable[[np.dtype[Any]], Any],
    better: Callable[[Any, Any], Any],
    prints: str,
) -> tuple[ArgReduction, Primitive]:
    """Declares the position of an extremum.

    Args:
      name: the primitive's name, and the function's.
      doc: the first line of the function's docstring.
      numpy_function: finds the position along one axis.
      hlo: the StableHLO op whose repetition gives the extremum itself.
      unit: gives, for a dtype, the extremum of no elements.
      better: whether one number comes before another.
      prints: what the example in the docstring prints.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", one_an_operand_element)

    def function(operand: Any, axis: int, index_dtype: Any) -> Any:
        aval = get_aval(operand)
        check_kind(name, aval, _KINDS)
        axis = canonical_axis(name, axis, aval.ndim)
        dtype = as_dtype(index_dtype)
        if not aval.shape[axis]:
            raise ArgumentValueError(
                f"{name}: expected at least one element along axis {axis}, got the shape {aval.shape}; "
                "an empty sequence has no such element"
            )
        _check_index_dtype(name, aval.shape[axis], dtype)
        return primitive.bind(operand, axes=(axis,), index_dtype=dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Of equal elements it is the first, and a NaN comes before all numbers, as in NumPy.

    Args:
      operand: an array; complex numbers are ordered by their real, then by their imaginary parts.
      axis: the dimension along which to look; a negative one is counted from the last.
      index_dtype: the integer dtype of the result.

    Raises:
      ArgumentTypeError: the operand has another dtype, or ``index_dtype`` is not of integers.
      ArgumentValueError: there is no element along ``axis``, or so many that ``index_dtype`` cannot number them.
      AxisError: there is no such dimension.

    >>> {name}(np.array([[3, 9, 9], [5, 2, 2]]), 1, np.int32)
    {prints}

    Source: ``jax.lax.{name}``.
    """

    @primitive.def_impl
    def impl(x: Any, *, axes: tuple[int, ...], index_dtype: np.dtype[Any]) -> Any:
        x = np.asarray(x)
        x = x.astype(accumulation_dtype(x.dtype), copy=False)
        return numpy_function(x, axis=axes[0]).astype(index_dtype, copy=False)

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: np.dtype[Any]) -> ShapedArray:
        check_kind(f"{name}_p", x, _KINDS)
        check_axes(name, x, axes)
        if len(axes) != 1 or not x.shape[axes[0]]:
            raise ArgumentTypeError(
                f"{name}_p: expected one axis with at least one element, got axes={axes} of {x}; "
                f"call lawful.ops.{name} for each axis"
            )
        _check_index_dtype(f"{name}_p", x.shape[axes[0]], index_dtype)
        return ShapedArray(tuple([x.shape[axis] for axis in kept_axes(x.ndim, axes)]), index_dtype)

    without_derivative(primitive)
    primitive.declare_absent("transpose", "it is not linear")

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int], *, axes: tuple[int, ...], index_dtype: np.dtype[Any]) -> Any:
        return batch_reduced(primitive, args[0], dims[0], axes, index_dtype=index_dtype)

    @primitive.def_lowering
    def lower(ctx: Any, x: Any, *, axes: tuple[int, ...], index_dtype: np.dtype[Any]) -> Any:
        (aval,) = ctx.avals_in
        if aval.dtype.kind == "c":

            def first_of_complex(z: Any) -> Any:
                return position_of_complex(z, axes[0], index_dtype, largest=hlo == "maximum")

            return ctx.apply(first_of_complex, x)[0]
        indices = aval.update(dtype=index_dtype, weak_type=False)
        extremum = ctx.hlo.broadcast_in_dim(
            ctx.tensor_type(aval),
            ctx.reduce(x, unit(aval.dtype), axes, hlo),
            ctx.i64_array(kept_axes(aval.ndim, axes)),
        )
        found = ctx.compare(x, extremum, "EQ")
        if is_float(aval.dtype):
            # The extremum is NaN if an element is, and a NaN equals nothing.
            found = ctx.hlo.or_(found, ctx.compare(x, x, "NE"))
        last = aval.shape[axes[0]] - 1
        position = ctx.hlo.iota(ctx.tensor_type(indices), ctx.i64(axes[0]))
        position = ctx.hlo.select(found, position, ctx.full(indices, last))
        return ctx.reduce(position, last, axes, "minimum")

    def sample(choose: Choose) -> Call:
        shape = list(choose.shape(min_ndim=1))
        axis = choose.integer(0, len(shape) - 1)
        shape[axis] = choose.integer(1, 4)
        params = {"axes": (axis,), "index_dtype": choose.dtype("iu")}
        return (ShapedArray(tuple(shape), choose.dtype(_KINDS)),), params

    primitive.declaration = Declaration(
        sample=sample, reference=_reference(better), domain=(Interval(),), kinds=_KINDS, differentiable=False
    )
    return function, primitive


def _reference(better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Returns a reference implementation: a sequential search for the first best element."""

    def search(x: Any, *, axes: tuple[int, ...], index_dtype: np.dtype[Any]) -> Any:
        x = np.moveaxis(np.asarray(x).astype(accumulation_dtype(np.asarray(x).dtype)), axes[0], 0)
        best, position = x[0], np.zeros(x.shape[1:], index_dtype)
        for index in range(1, len(x)):
            wins = (best == best) & (better(x[index], best) | (x[index] != x[index]))
            best, position = np.where(wins, x[index], best), np.where(wins, index, position)
        return position.astype(index_dtype)

    return search


argmax, argmax_p = _arg_reduction(
    "argmax",
    "Returns the position of the largest element along a dimension.",
    np.argmax,
    "maximum",
    lowest,
    operator.gt,
    "array([1, 0], dtype=int32)",
)
argmin, argmin_p = _arg_reduction(
    "argmin",
    "Returns the position of the smallest element along a dimension.",
    np.argmin,
    "minimum",
    highest,
    operator.lt,
    "array([0, 1], dtype=int32)",
)
