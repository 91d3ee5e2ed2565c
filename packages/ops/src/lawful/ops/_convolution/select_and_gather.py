"""The derivatives of pooling by an extremum: gathering the selected element of each window, and the transpose.

`select_and_gather_add` reads a second array at the positions of the elements that are selected in the first one. It is
linear in the second array, and `select_and_scatter_add` is its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
)
from lawful.ops._convolution.sliding_window import (
    Params,
    batched,
    sample_windows,
    window_attributes,
    window_params,
    window_shape,
    windows,
)
from lawful.ops._support.batch_dimensions import align_to_front
from lawful.ops._support.dtypes import accumulation_dtype, check_kind, highest, lowest
from lawful.ops._support.promotion import cast
from lawful.ops._support.structural import Shape, cotangent, strong

__all__ = ["select_and_gather_add", "select_and_gather_add_p", "select_and_scatter_add", "select_and_scatter_add_p"]

select_and_gather_add_p = Primitive("select_and_gather_add", pure_rules=True)
select_and_scatter_add_p = Primitive("select_and_scatter_add", pure_rules=True)

#: For each comparison, the value that every element beats.
_LEAST = {"ge": lowest, "le": highest}
_INDEX = np.dtype(np.int64)
_NOWHERE = np.iinfo(np.int64).max
_KINDS = "biuf"


def select_and_gather_add(
    tangents: Any,
    operand: Any,
    select_prim: str,
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Returns, for each window, the element of ``tangents`` where that of ``operand`` wins against all others.

    The first of equal elements wins, and a NaN against all numbers. What pads the operand never wins; of a window
    of padding only the result is 0.

    Args:
      tangents: an array of the operand's shape.
      operand: an array of bool, integer or floating dtype.
      select_prim: ``"ge"`` for the largest element, ``"le"`` for the smallest one.
      window_dimensions: the lengths of the window, one a dimension.
      window_strides: the distances of two windows; None for 1.
      padding: for each dimension how much to pad before and after, or ``"VALID"`` or ``"SAME"``.
      base_dilation: the distances at which the elements of the arrays stand; None for 1.
      window_dilation: the distances at which the elements of the window stand; None for 1.

    Raises:
      ArgumentTypeError: the shapes differ, or an array has another dtype.
      ArgumentValueError: the numbers do not fit the operand.

    >>> select_and_gather_add(np.array([10.0, 20.0, 30.0]), np.array([1, 3, 2]), "ge", (2,))
    array([20., 20.])

    Source: ``jax.lax.select_and_gather_add_p``.
    """
    params = window_params(
        "select_and_gather_add", get_aval(operand).shape,
        window_dimensions, window_strides, padding, base_dilation, window_dilation,
    )  # fmt: skip
    params["select_prim"] = select_prim
    _gather_abstract_eval(get_aval(tangents), get_aval(operand), **params)  # raises
    return select_and_gather_add_p.bind(strong(tangents), strong(operand), **params)


def select_and_scatter_add(
    source: Any,
    operand: Any,
    select_prim: str,
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Returns an array of the operand's shape with each element of ``source`` added where its window's winner stands.

    Args:
      source: an array with an element for each window.
      operand: an array of bool, integer or floating dtype, whose elements compete as in `select_and_gather_add`.
      select_prim: ``"ge"`` for the largest element, ``"le"`` for the smallest one.
      window_dimensions: the lengths of the window, one a dimension.
      window_strides: the distances of two windows; None for 1.
      padding: for each dimension how much to pad before and after, or ``"VALID"`` or ``"SAME"``.
      base_dilation: the distances at which the elements of the arrays stand; None for 1.
      window_dilation: the distances at which the elements of the window stand; None for 1.

    Raises:
      ArgumentTypeError: ``source`` has another shape, or an array another dtype.
      ArgumentValueError: the numbers do not fit the operand.

    >>> select_and_scatter_add(np.array([10.0, 20.0]), np.array([1, 3, 2]), "ge", (2,))
    array([ 0., 30.,  0.])

    Source: ``jax.lax.select_and_scatter_add_p``.
    """
    params = window_params(
        "select_and_scatter_add", get_aval(operand).shape,
        window_dimensions, window_strides, padding, base_dilation, window_dilation,
    )  # fmt: skip
    params["select_prim"] = select_prim
    _scatter_abstract_eval(get_aval(source), get_aval(operand), **params)  # raises
    return select_and_scatter_add_p.bind(strong(source), strong(operand), **params)


# Evaluation and typing


def _winners(x: Any, select_prim: str, params: Params) -> Any:
    """Returns, for each window of a NumPy array, the flat position of the selected element, -1 for none."""
    number = accumulation_dtype(x.dtype)
    values = windows(x.astype(number, copy=False), cast(_LEAST[select_prim](x.dtype), number), **params)
    positions = windows(np.arange(x.size).reshape(x.shape), np.int64(-1), **params)
    flat = (*values.shape[: x.ndim], -1) if values.size else (*values.shape[: x.ndim], 1)
    if not values.size:
        return np.full(flat[:-1], -1)
    values, positions = values.reshape(flat), positions.reshape(flat)
    extremum = (np.maximum if select_prim == "ge" else np.minimum).reduce(values, axis=-1, keepdims=True)
    wins = (positions >= 0) & ((values == extremum) | (values != values))
    first = np.argmax(wins, axis=-1)[..., None]
    return np.where(np.any(wins, axis=-1), np.take_along_axis(positions, first, -1)[..., 0], -1)


@select_and_gather_add_p.def_impl
def _gather_impl(tangents: Any, x: Any, *, select_prim: str, **params: Any) -> Any:
    winners = _winners(np.asarray(x), select_prim, params)
    padded = np.append(np.ravel(tangents), np.zeros(1, np.asarray(tangents).dtype))  # position -1 reads 0
    return padded[winners]


@select_and_scatter_add_p.def_impl
def _scatter_impl(source: Any, x: Any, *, select_prim: str, **params: Any) -> Any:
    x, source = np.asarray(x), np.asarray(source)
    winners = _winners(x, select_prim, params)
    out = np.zeros(x.size + 1, accumulation_dtype(source.dtype))
    np.add.at(out, winners.ravel(), source.ravel().astype(out.dtype))
    return cast(out[:-1].reshape(x.shape), source.dtype)


def _check(name: str, given: ShapedArray, x: ShapedArray, shape: Shape, select_prim: str) -> None:
    check_kind(name, x, _KINDS)
    check_kind(name, given, "iufc")
    if select_prim not in _LEAST:
        raise ArgumentValueError(f"{name}: expected select_prim='ge' or 'le', got {select_prim!r}; name a comparison")
    if given.shape != shape:
        raise ArgumentTypeError(
            f"{name}: expected a first array of the shape {shape}, got {given} for the operand {x}; "
            "give an element for each"
        )


@select_and_gather_add_p.def_abstract_eval
def _gather_abstract_eval(tangents: ShapedArray, x: ShapedArray, *, select_prim: str, **params: Any) -> ShapedArray:
    shape = window_shape("select_and_gather_add_p", x.shape, **params)
    _check("select_and_gather_add_p", tangents, x, x.shape, select_prim)
    return ShapedArray(shape, tangents.dtype)


@select_and_scatter_add_p.def_abstract_eval
def _scatter_abstract_eval(source: ShapedArray, x: ShapedArray, *, select_prim: str, **params: Any) -> ShapedArray:
    _check(
        "select_and_scatter_add_p", source, x, window_shape("select_and_scatter_add_p", x.shape, **params), select_prim
    )
    return ShapedArray(x.shape, source.dtype)


# Derivatives: each is linear in its first array, and is the transpose of the other one. The selection has none.


def _differentiate(primitive: Primitive, transposed: Primitive) -> None:
    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        ans = primitive.bind(*primals, **params)
        aval = get_aval(ans)
        if type(tangents[0]) is Zero:
            return ans, Zero(aval.to_tangent_aval())
        return ans, primitive.bind(tangents[0], primals[1], **params)

    @primitive.def_transpose
    def transpose(ct: Any, first: Any, x: Any, **params: Any) -> list[Any]:
        if isinstance(x, UndefinedPrimal):
            raise NotLinearError(
                f"transpose of {primitive.name}: expected a function that is linear in what it is transposed by, got "
                f"{primitive.name}, which is not linear in its operand; make it a constant, or linearize first"
            )
        if type(ct) is Zero:
            return [Zero(first.aval), None]
        return [cotangent(transposed.bind(ct, x, **params), first.aval), None]

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], **params: Any) -> tuple[Any, int]:
        dim = dims[0]
        if dim is None or dims[1] != dim:
            args, dim = align_to_front(args, dims), 0
        return primitive.bind(*args, **batched(params, dim)), dim


_differentiate(select_and_gather_add_p, select_and_scatter_add_p)
_differentiate(select_and_scatter_add_p, select_and_gather_add_p)

# Lowering


def _wins(ctx: Any, select_prim: str, x: Any, y: Any) -> Any:
    """Returns whether a scalar MLIR value is at least as good as another one; a NaN always is."""
    wins = ctx.compare(x, y, select_prim.upper())
    if not isinstance(x.type.element_type, ctx.ir.FloatType):
        return wins
    return ctx.hlo.or_(wins, ctx.compare(x, x, "NE"))


def _reduce_winners(
    ctx: Any, x: Any, carried: Sequence[tuple[Any, Any]], select_prim: str, params: Params
) -> list[Any]:
    """Returns, for each window, the flat position of the selected element, and other arrays' elements there.

    Args:
      ctx: the lowering context.
      x: the values that are compared.
      carried: the other arrays, each with its value for an empty selection.
      select_prim: the comparison.
      params: the windows.
    """
    aval, hlo = ctx.avals_in[1], ctx.hlo
    positions = aval.update(dtype=_INDEX, weak_type=False)
    flat = hlo.iota(ctx.tensor_type(positions.update(shape=(aval.size,))), ctx.i64(0))
    inputs = [x, hlo.reshape(ctx.tensor_type(positions), flat), *[array for array, _ in carried]]
    inits = [ctx.constant(_LEAST[select_prim](aval.dtype)), ctx.constant(_INDEX.type(_NOWHERE))]
    inits += [ctx.constant(init) for _, init in carried]
    shape = window_shape("select_and_gather_add", aval.shape, **params)
    types = [ctx.ir.RankedTensorType.get(shape, array.type.element_type) for array in inputs]
    op = hlo.ReduceWindowOp(types, inputs, inits, **window_attributes(ctx, params))
    with ctx.block(op.regions[0], [init.type for init in inits] * 2) as values:
        left, right = values[: len(inputs)], values[len(inputs) :]
        better, worse = (_wins(ctx, select_prim, *pair) for pair in ((left[0], right[0]), (right[0], left[0])))
        # The first of two equal ones is selected, so that the order of the reduction does not matter.
        first = hlo.and_(better, ctx.compare(left[1], right[1], "LE"))
        is_left = hlo.or_(hlo.and_(better, hlo.not_(worse)), first)
        hlo.return_([hlo.select(is_left, one, other) for one, other in zip(left, right, strict=True)])
    return list(op.results[1:])


@select_and_gather_add_p.def_lowering
def _gather_lower(ctx: Any, tangents: Any, x: Any, *, select_prim: str, **params: Any) -> Any:
    (out,) = ctx.avals_out
    if not out.size or not ctx.avals_in[1].size:
        return ctx.zeros(out)
    return _reduce_winners(ctx, x, [(tangents, out.dtype.type(0))], select_prim, params)[1]


@select_and_scatter_add_p.def_lowering
def _scatter_lower(ctx: Any, source: Any, x: Any, *, select_prim: str, **params: Any) -> Any:
    (out,), given = ctx.avals_out, ctx.avals_in[0]
    if not out.size or not given.size:
        return ctx.zeros(out)
    wide = out.update(dtype=accumulation_dtype(out.dtype))
    if wide.dtype != out.dtype:
        source = ctx.hlo.convert(ctx.tensor_type(given.update(dtype=wide.dtype)), source)
    (winners,) = _reduce_winners(ctx, x, [], select_prim, params)
    total = _scatter_flat(ctx, source, winners, wide)
    return ctx.hlo.convert(ctx.tensor_type(out), total) if wide.dtype != out.dtype else total


def _scatter_flat(ctx: Any, source: Any, positions: Any, out: ShapedArray) -> Any:
    """Returns zeros with the elements of an MLIR value added at flat positions; those beyond the end are dropped."""
    hlo = ctx.hlo
    count = ctx.avals_in[0].size
    column = hlo.reshape(ctx.tensor_type(ShapedArray((count, 1), _INDEX)), positions)
    updates = hlo.reshape(ctx.tensor_type(ShapedArray((count,), out.dtype)), source)
    numbers = hlo.ScatterDimensionNumbers.get(
        update_window_dims=[],
        inserted_window_dims=[0],
        input_batching_dims=[],
        scatter_indices_batching_dims=[],
        scattered_dims_to_operand_dims=[0],
        index_vector_dim=1,
    )
    flat = ShapedArray((out.size,), out.dtype)
    op = hlo.ScatterOp([ctx.tensor_type(flat)], [ctx.zeros(flat)], column, [updates], numbers)
    scalar = ctx.tensor_type(ShapedArray((), out.dtype))
    with ctx.block(op.regions[0], [scalar, scalar]) as (left, right):
        hlo.return_([hlo.add(left, right)])
    return hlo.reshape(ctx.tensor_type(out), op.results[0])


# For laws


def _sample(of_windows: bool) -> Callable[[Choose], Call]:
    def sample(choose: Choose) -> Call:
        shape = choose.shape()
        params = sample_windows(choose, shape)
        given = window_shape("sample", shape, **params) if of_windows else shape
        params = {"select_prim": choose.one_of(("ge", "le")), **params}
        return (ShapedArray(given, choose.dtype("fiuc")), ShapedArray(shape, choose.dtype(_KINDS))), params

    return sample


def _each_winner(x: Any, *, select_prim: str, window_dimensions: Shape, **params: Any) -> Any:
    """Yields each window with the index of its selected element, by sequential comparison."""
    counts = window_shape("reference", x.shape, window_dimensions=window_dimensions, **params)
    names = ("window_strides", "padding", "base_dilation", "window_dilation")
    groups = [params[name] for name in names]
    for window in np.ndindex(*counts):
        best = None
        for inside in np.ndindex(*window_dimensions):
            index: list[int | None] = []
            for o, k, stride, (low, _), base, spread, size in zip(window, inside, *groups, x.shape, strict=True):
                position, rest = divmod(o * stride + k * spread - low, base)
                index.append(position if rest == 0 and 0 <= position < size else None)
            if None in index:
                continue
            candidate = tuple(index)
            if best is None or _is_better(x[candidate], x[best], select_prim):
                best = candidate
        if best is not None:
            yield window, best


def _is_better(x: Any, y: Any, select_prim: str) -> bool:
    return bool(y == y and (x != x or (x > y if select_prim == "ge" else x < y)))


def _gather_reference(tangents: Any, x: Any, **params: Any) -> Any:
    shape = window_shape("reference", x.shape, **{key: value for key, value in params.items() if key != "select_prim"})
    out = np.zeros(shape, tangents.dtype)
    for window, best in _each_winner(x, **params):
        out[window] = tangents[best]
    return out


def _scatter_reference(source: Any, x: Any, **params: Any) -> Any:
    out = np.zeros(x.shape, accumulation_dtype(source.dtype))
    for window, best in _each_winner(x, **params):
        out[best] += source[window]
    return cast(out, source.dtype)


select_and_gather_add_p.declaration = Declaration(
    sample=_sample(False), reference=_gather_reference, kinds="fiuc", linear=((0,),)
)
select_and_scatter_add_p.declaration = Declaration(
    sample=_sample(True), reference=_scatter_reference, kinds="fiuc", linear=((0,),)
)
