"""Sorts of arrays along a dimension, by one or several keys, and the permutation that sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    NotLinearError,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    get_aval,
    is_float,
    is_of_ml_dtypes,
)
from lawful.ops._indexing.take_along_dimension import take_along_dimension
from lawful.ops._shape.iota import broadcasted_iota
from lawful.ops._support.batch_dimensions import align_to_front
from lawful.ops._support.dtypes import check_kind
from lawful.ops._support.operation_counts import of_sorting
from lawful.ops._support.structural import canonical_axis, cotangent, static_integers, strong

__all__ = ["argsort", "sort", "sort_key_val", "sort_p"]

sort_p = Primitive("sort", multiple_results=True, pure_rules=True)
sort_p.def_rule("operations", of_sorting)

_INDEX = np.dtype(np.int64)
_KINDS = "fiubc"


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Returns an array sorted along a dimension, or several of them reordered alike.

    The first of several is sorted by; where elements of it are equal, the second one, and so on up to ``num_keys``.
    NaNs come last and are equal, zeros of both signs are equal, and complex numbers are sorted by their real parts
    and then by their imaginary ones.

    Args:
      operand: an array with at least one dimension, or a sequence of arrays of one shape.
      dimension: along which to sort, counted from the end if negative.
      is_stable: whether equal elements keep their order.
      num_keys: how many of the arrays are sorted by.

    Returns:
      An array, or a tuple of as many as there are in the sequence.

    Raises:
      AxisError: there is no such dimension.
      ArgumentTypeError: there are no arrays, or their shapes differ.
      ArgumentValueError: ``num_keys`` is not between 1 and their number.

    The derivative reorders tangents as their arrays; equal elements are taken to be in the order of the result.

    >>> sort(np.array([3.0, np.nan, 1.0]))
    array([ 1.,  3., nan])
    >>> sort((np.array([1, 0, 1]), np.array([7, 8, 5])), num_keys=2)
    (array([0, 1, 1]), array([8, 5, 7]))

    Source: ``jax.lax.sort``.
    """
    several = isinstance(operand, tuple | list)
    operands = [strong(x) for x in operand] if several else [strong(operand)]
    if not operands:
        raise ArgumentTypeError("sort: expected at least one array, got none; give the arrays to sort")
    avals = [get_aval(x) for x in operands]
    _check_operands("sort", avals)
    axis = canonical_axis("sort", dimension, avals[0].ndim)
    (num_keys,) = static_integers("sort", "num_keys", num_keys)
    _check_keys("sort", num_keys, avals)
    out = sort_p.bind(*operands, dimension=axis, is_stable=bool(is_stable), num_keys=num_keys)
    return tuple(out) if several else out[0]


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Returns an array sorted along a dimension, and another one of its shape reordered alike.

    Args:
      keys: the array that is sorted.
      values: the other one.
      dimension: along which to sort, counted from the end if negative.
      is_stable: whether equal elements keep their order.

    Raises:
      AxisError: there is no such dimension.
      ArgumentTypeError: the shapes differ.

    >>> sort_key_val(np.array([2, 0, 1]), np.array([0.5, 1.5, 2.5]))
    (array([0, 1, 2]), array([1.5, 2.5, 0.5]))

    Source: ``jax.lax.sort_key_val``.
    """
    first, second = sort((keys, values), dimension, is_stable, 1)
    return first, second


def argsort(operand: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Returns the positions, int64, of an array's elements in their order along a dimension: that of `sort`.

    Args:
      operand: an array with at least one dimension.
      dimension: along which to sort, counted from the end if negative.
      is_stable: whether equal elements keep their order.

    Raises:
      AxisError: there is no such dimension.

    >>> argsort(np.array([2.0, 0.0, 1.0]))
    array([1, 2, 0])

    Source: ``jax.numpy.argsort``.
    """
    aval = get_aval(operand)
    axis = canonical_axis("argsort", dimension, aval.ndim)
    return sort_key_val(operand, broadcasted_iota(_INDEX, aval.shape, axis), axis, is_stable)[1]


def _check_operands(name: str, avals: Sequence[ShapedArray]) -> None:
    if any(aval.shape != avals[0].shape for aval in avals):
        raise ArgumentTypeError(
            f"{name}: expected arrays of one shape, got {', '.join(map(str, avals))}; broadcast them first"
        )


def _check_keys(name: str, num_keys: int, avals: Sequence[ShapedArray]) -> None:
    if not 1 <= num_keys <= len(avals):
        raise ArgumentValueError(
            f"{name}: expected num_keys from 1 to the number of arrays, {len(avals)}, got {num_keys}; "
            "give the arrays to sort by first"
        )
    for aval in avals[:num_keys]:
        check_kind(name, aval, _KINDS)


# Evaluation and typing


def sortable(x: Any) -> list[np.ndarray[Any, Any]]:
    """Returns the sort keys of an array, of dtypes that NumPy sorts: one, or two if it is complex."""
    if x.dtype.kind == "c":
        return [x.real, x.imag]
    return [x.astype(np.float32) if is_of_ml_dtypes(x.dtype) else x]


@sort_p.def_impl
def _sort_impl(*operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    arrays = [np.asarray(x) for x in operands]
    if len(arrays) == 1 and arrays[0].dtype.kind != "c" and not is_of_ml_dtypes(arrays[0].dtype):
        return [np.sort(arrays[0], dimension, kind="stable" if is_stable else None)]
    keys = [part for x in arrays[:num_keys] for part in sortable(x)]
    order = keys[0].argsort(dimension, kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1], dimension)
    if order.ndim == 1:  # the same, 5x faster for few elements
        return [x.take(order) for x in arrays]
    return [np.take_along_axis(x, order, dimension) for x in arrays]


@sort_p.def_abstract_eval
def _sort_abstract_eval(*avals: ShapedArray, dimension: int, is_stable: bool, num_keys: int) -> list[ShapedArray]:
    if not avals or not 0 <= dimension < avals[0].ndim:
        raise ArgumentTypeError(
            f"sort_p: expected operands with a dimension {dimension}, got {', '.join(map(str, avals)) or 'none'}; "
            "call lawful.ops.sort, which takes a negative one too"
        )
    _check_operands("sort_p", avals)
    _check_keys("sort_p", num_keys, avals)
    return [aval.update(weak_type=False) for aval in avals]


# Derivatives: tangents are permuted as their operands are.


def _permutation(keys: Sequence[Any], dimension: int, is_stable: bool) -> tuple[list[Any], Any]:
    """Returns the sorted keys, and the position that each element had."""
    position = broadcasted_iota(_INDEX, get_aval(keys[0]).shape, dimension)
    *out, position = sort_p.bind(*keys, position, dimension=dimension, is_stable=is_stable, num_keys=len(keys))
    return out, position


def _inverse(position: Any, dimension: int) -> Any:
    """Returns the inverse of a permutation."""
    return _permutation([position], dimension, False)[1]


def _permuted(x: Any, position: Any, dimension: int) -> Any:
    return take_along_dimension(x, position, dimension, unique_indices=True)


@sort_p.def_jvp
def _sort_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, dimension: int, is_stable: bool, num_keys: int
) -> tuple[list[Any], list[Any]]:
    params = {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}
    if all(type(t) is Zero for t in tangents):
        out = sort_p.bind(*primals, **params)
        return out, [Zero(get_aval(x).to_tangent_aval()) for x in out]
    position = broadcasted_iota(_INDEX, get_aval(primals[0]).shape, dimension)
    *out, position = sort_p.bind(*primals, position, **params)
    return out, [
        Zero(get_aval(x).to_tangent_aval()) if type(t) is Zero else _permuted(t, position, dimension)
        for x, t in zip(out, tangents, strict=True)
    ]


@sort_p.def_transpose
def _sort_transpose(cts: Sequence[Any], *operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    if any(isinstance(x, UndefinedPrimal) for x in operands[:num_keys]):
        raise NotLinearError(
            "transpose of sort: expected a function that is linear in what it is transposed by, got sort, which is "
            "not linear in what it sorts by; make the keys constants, or linearize first"
        )
    _, position = _permutation(operands[:num_keys], dimension, is_stable)
    rank = _inverse(position, dimension)
    return [
        (Zero(x.aval) if type(ct) is Zero else cotangent(_permuted(ct, rank, dimension), x.aval))
        if isinstance(x, UndefinedPrimal)
        else None
        for ct, x in zip(cts, operands, strict=True)
    ]


# Batching and lowering


@sort_p.def_batch
def _sort_batch(
    args: Sequence[Any], dims: Sequence[int | None], *, dimension: int, is_stable: bool, num_keys: int
) -> tuple[list[Any], list[int]]:
    first = dims[0]
    if first is None or any(dim != first for dim in dims):
        args, first = align_to_front(args, dims), 0
    out = sort_p.bind(*args, dimension=dimension + (dimension >= first), is_stable=is_stable, num_keys=num_keys)
    return out, [first] * len(out)


@sort_p.def_lowering
def _sort_lower(ctx: Any, *operands: Any, dimension: int, is_stable: bool, num_keys: int) -> Any:
    avals = ctx.avals_in
    if not avals[0].size:
        return list(operands)
    op = ctx.hlo.SortOp(
        [x.type for x in operands], operands, dimension=ctx.i64(dimension), is_stable=ctx.ir.BoolAttr.get(is_stable)
    )
    scalars = [ctx.tensor_type(ShapedArray((), aval.dtype)) for aval in avals for _ in range(2)]
    with ctx.block(op.regions[0], scalars) as values:
        pairs = [
            pair
            for aval, x, y in zip(avals[:num_keys], values[::2], values[1::2], strict=False)
            for pair in _comparable(ctx, aval.dtype, x, y)
        ]
        before = None
        for x, y in reversed(pairs):
            less = total_order(ctx, x, y, "LT")
            before = less if before is None else ctx.hlo.or_(less, ctx.hlo.and_(total_order(ctx, x, y, "EQ"), before))
        ctx.hlo.return_([before])
    return list(op.results)


def _comparable(ctx: Any, dtype: np.dtype[Any], x: Any, y: Any) -> list[tuple[Any, Any]]:
    """Returns the pairs of scalars by which two scalars are compared: one zero, one NaN, complex numbers by parts."""
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        parts = [(ctx.hlo.real(x), ctx.hlo.real(y)), (ctx.hlo.imag(x), ctx.hlo.imag(y))]
        return [pair for x, y in parts for pair in _comparable(ctx, part, x, y)]
    if is_float(dtype):
        return [(canonical(ctx, ShapedArray((), dtype), x), canonical(ctx, ShapedArray((), dtype), y))]
    return [(x, y)]


def canonical(ctx: Any, aval: ShapedArray, x: Any) -> Any:
    """Returns an MLIR value of floats with one zero and one NaN, so that the total order is that of NumPy's sort.

    It is of float32 if the dtype has no positive NaN (float8 types named ``fnuz``), because a negative one sorts first.
    """
    if aval.dtype.name.endswith("fnuz"):
        aval = aval.update(dtype=np.dtype(np.float32))
        x = ctx.hlo.convert(ctx.tensor_type(aval), x)
    zero = ctx.full(aval, 0)
    nan = ctx.full(aval, np.nan)
    x = ctx.hlo.select(ctx.compare(x, zero, "EQ"), zero, x)
    return ctx.hlo.select(ctx.compare(x, x, "NE"), nan, x)


def total_order(ctx: Any, x: Any, y: Any, direction: str) -> Any:
    """Returns the comparison of two MLIR values; NaN is larger than all other floats, and equals itself."""
    if not isinstance(x.type.element_type, ctx.ir.FloatType):
        return ctx.compare(x, y, direction)
    attribute = ctx.hlo.ComparisonDirectionAttr.get(direction)
    return ctx.hlo.compare(x, y, attribute, compare_type=ctx.hlo.ComparisonTypeAttr.get("TOTALORDER"))


# For laws


def _sort_reference(*operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    """Sorts each line by Python's sort of lists."""

    def key(number: Any) -> list[Any]:
        parts = [number.real, number.imag] if number.dtype.kind == "c" else [number]
        return [(bool(part != part), 0 if part != part else part) for part in parts]

    out = [np.array(x) for x in operands]
    fronts = [np.moveaxis(x, dimension, 0) for x in operands]
    sorted_fronts = [np.moveaxis(x, dimension, 0) for x in out]
    for index in np.ndindex(fronts[0].shape[1:]):
        lines = [x[(slice(None), *index)] for x in fronts]
        order = sorted(range(len(lines[0])), key=lambda i: [key(x[i]) for x in lines[:num_keys]])
        for target, line in zip(sorted_fronts, lines, strict=True):
            target[(slice(None), *index)] = line[order]
    return out


def _sort_sample(choose: Choose) -> Call:
    shape = list(choose.shape(min_ndim=1))
    dimension = choose.integer(0, len(shape) - 1)
    if choose.one_of((False, True)):
        shape[dimension] = choose.integer(3, 6)  # a permutation of two is its own inverse
    count = choose.integer(1, 3)
    num_keys = choose.integer(1, count)
    # An unstable sort may return operands that are not keys in several orders.
    is_stable = num_keys < count or choose.one_of((True, False))
    params = {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}
    return tuple(ShapedArray(tuple(shape), choose.dtype("fiubc")) for _ in range(count)), params


sort_p.declaration = Declaration(sample=_sort_sample, reference=_sort_reference, kinds=_KINDS)
