"""Derivatives of scatters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import MissingRuleError, Primitive, ShapedArray, UndefinedPrimal, Zero, get_aval
from lawful.ops._elementwise.declaration import add_tangents
from lawful.ops._indexing.gather_scatter.gather import gather_p
from lawful.ops._indexing.gather_scatter.windows import windows_of_updates
from lawful.ops._support.structural import cotangent, instantiate, zeros_of

Rule = Callable[..., Any]
Params = dict[str, Any]


def read_windows(x: Any, indices: Any, updates: ShapedArray, *, mode: str, **params: Any) -> Any:
    """Returns the windows of ``x`` that a scatter writes to, in the form of its updates; zeros for dropped ones."""
    shape = get_aval(x).shape
    windows = windows_of_updates(shape, get_aval(indices).shape, updates.shape, params["dimension_numbers"])
    fill_value = 0 if mode == "fill_or_drop" else None
    return gather_p.bind(x, indices, slice_sizes=windows.sizes, mode=mode, fill_value=fill_value, **params)


def _aval(x: Any) -> ShapedArray:
    return x.aval if isinstance(x, UndefinedPrimal) else get_aval(x)


def _full(aval: ShapedArray, value: Any) -> Any:
    """Returns a constant array of the shape and dtype of a type."""
    return ops.broadcast_in_dim(np.asarray(value).astype(aval.dtype)[()], aval.shape, ())


def _no_tangents(primitive: Primitive, primals: Sequence[Any], params: Params) -> tuple[Any, Any]:
    ans = primitive.bind(*primals, **params)
    return ans, Zero(get_aval(ans).to_tangent_aval())


def _zero_cotangents(x: Any, updates: Any) -> list[Any]:
    x_bar, updates_bar = (Zero(arg.aval) if isinstance(arg, UndefinedPrimal) else None for arg in (x, updates))
    return [x_bar, None, updates_bar]


# Addition and subtraction


def jvp_of_linear(primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """Differentiates a scatter that is linear in operand and updates together."""
    x_dot, _, updates_dot = tangents
    if type(x_dot) is Zero and type(updates_dot) is Zero:
        return _no_tangents(primitive, primals, params)
    ans = primitive.bind(*primals, **params)
    return ans, primitive.bind(instantiate(x_dot), primals[1], instantiate(updates_dot), **params)


def transpose_of_addition(primitive: Primitive, ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    """Transposes addition to and subtraction from windows: the updates' cotangent is read from the windows."""
    if type(ct) is Zero:
        return _zero_cotangents(x, updates)
    x_bar = cotangent(ct, x.aval) if isinstance(x, UndefinedPrimal) else None
    updates_bar = None
    if isinstance(updates, UndefinedPrimal):
        read = read_windows(ct, indices, updates.aval, **params)
        updates_bar = cotangent(ops.neg(read) if primitive.name == "scatter_sub" else read, updates.aval)
    return [x_bar, None, updates_bar]


# Replacement


def _winners(primitive: Primitive, x: ShapedArray, indices: Any, updates: ShapedArray, params: Params) -> Any:
    """Returns which elements of the operand are replaced, and which of the updates replace one.

    If windows overlap the backend decides which update stays. So their numbers from 1 on are scattered, and the result
    says which update each element is from.
    """
    offset = params["dimension_numbers"][0]
    batch_dims = tuple([dim for dim in range(updates.ndim) if dim not in offset])
    batch = tuple([updates.shape[dim] for dim in batch_dims])
    dtype = np.dtype(np.int32 if math.prod(batch) < np.iinfo(np.int32).max else np.int64)
    numbers = ops.reshape(ops.iota(dtype, math.prod(batch)) + dtype.type(1), batch)
    numbers = ops.broadcast_in_dim(numbers, updates.shape, batch_dims)
    none = zeros_of(x.update(dtype=dtype, weak_type=False))
    stayed = primitive.bind(none, indices, numbers, **params)
    replaced = ops.ne(stayed, none)
    return replaced, ops.eq(read_windows(stayed, indices, updates, **params), numbers)


def jvp_of_replacement(primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """Differentiates the replacement of windows; where they overlap, value and tangent are of the same update."""
    x, indices, updates = primals
    x_dot, _, updates_dot = tangents
    if type(x_dot) is Zero and type(updates_dot) is Zero:
        return _no_tangents(primitive, primals, params)
    if params["unique_indices"]:
        return jvp_of_linear(primitive, primals, tangents, **params)
    aval, updates_aval = get_aval(x), get_aval(updates)
    replaced, chosen = _winners(primitive, aval, indices, updates_aval, params)
    # The sum with -0.0 changes no number, not even a zero of either sign.
    unit = complex(-0.0, -0.0) if aval.dtype.kind == "c" else -0.0
    ans = ops.scatter_add_p.bind(
        ops.select_n(replaced, x, _full(aval, unit)),
        indices,
        ops.select_n(chosen, _full(updates_aval, unit), updates),
        **params,
    )
    kept = ops.select_n(replaced, instantiate(x_dot), zeros_of(aval)) if type(x_dot) is not Zero else zeros_of(aval)
    if type(updates_dot) is Zero:
        return ans, kept
    written = ops.select_n(chosen, zeros_of(updates_aval), updates_dot)
    return ans, ops.scatter_add_p.bind(kept, indices, written, **params)


def transpose_of_replacement(primitive: Primitive, ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    """Transposes the replacement of windows: an element's cotangent belongs to the update that stayed there."""
    if type(ct) is Zero:
        return _zero_cotangents(x, updates)
    aval, updates_aval = get_aval(ct), _aval(updates).update(weak_type=False)
    x_bar = updates_bar = None
    if params["unique_indices"]:
        if isinstance(x, UndefinedPrimal):
            x_bar = primitive.bind(ct, indices, zeros_of(updates_aval), **params)
        if isinstance(updates, UndefinedPrimal):
            updates_bar = read_windows(ct, indices, updates_aval, **params)
    else:
        replaced, chosen = _winners(primitive, aval, indices, updates_aval, params)
        if isinstance(x, UndefinedPrimal):
            x_bar = ops.select_n(replaced, ct, zeros_of(aval))
        if isinstance(updates, UndefinedPrimal):
            updates_bar = ops.select_n(
                chosen, zeros_of(updates_aval), read_windows(ct, indices, updates_aval, **params)
            )
    return [
        None if x_bar is None else cotangent(x_bar, x.aval),
        None,
        None if updates_bar is None else cotangent(updates_bar, updates.aval),
    ]


# Multiplication


def jvp_of_product(primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """Differentiates multiplication into windows; by the updates only if they do not overlap.

    Raises:
      MissingRuleError: they may.
    """
    x, indices, updates = primals
    x_dot, _, updates_dot = tangents
    ans = primitive.bind(*primals, **params)
    total: Any = Zero(get_aval(ans).to_tangent_aval())
    if type(x_dot) is not Zero:
        total = primitive.bind(x_dot, indices, updates, **params)
    if type(updates_dot) is not Zero:
        if not params["unique_indices"]:
            raise MissingRuleError(
                "scatter_mul: expected unique_indices=True for a derivative in the updates, got indices that may "
                "repeat; promise it, x.at[i].multiply(y, unique_indices=True), or multiply by gathered products"
            )
        written = ops.scatter_add_p.bind(zeros_of(get_aval(ans)), indices, updates_dot, **params)
        total = add_tangents(total, ops.mul(x, written))
    return ans, total


def transpose_of_product(primitive: Primitive, ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    """Transposes multiplication into windows, which is linear in the operand."""
    assert isinstance(x, UndefinedPrimal), "scatter_mul is linear in its operand"
    if type(ct) is Zero:
        return _zero_cotangents(x, updates)
    return [cotangent(primitive.bind(ct, indices, updates, **params), x.aval), None, None]


# Minimum and maximum


def jvp_of_extremum(primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """Differentiates minimum and maximum: the tangent of a tie is the mean of its tangents."""
    x, indices, updates = primals
    x_dot, _, updates_dot = tangents
    if type(x_dot) is Zero and type(updates_dot) is Zero:
        return _no_tangents(primitive, primals, params)
    ans = primitive.bind(*primals, **params)
    aval, updates_aval = get_aval(ans), get_aval(updates)
    # A NaN of the operand stays in the result.
    is_x = ops.convert_element_type(ops.bitwise_or(ops.eq(x, ans), ops.ne(x, x)), aval.dtype)
    is_update = ops.convert_element_type(
        ops.eq(updates, read_windows(ans, indices, updates_aval, **params)), aval.dtype
    )
    equal = ops.scatter_add_p.bind(is_x, indices, is_update, **params)
    weight = ops.div(_full(aval, 1), ops.max(equal, _full(aval, 1)))
    tangent = ops.mul(ops.mul(is_x, weight), instantiate(x_dot)) if type(x_dot) is not Zero else zeros_of(aval)
    if type(updates_dot) is not Zero:
        of_updates = ops.mul(is_update, read_windows(weight, indices, updates_aval, **params))
        tangent = ops.scatter_add_p.bind(tangent, indices, ops.mul(of_updates, updates_dot), **params)
    return ans, tangent
