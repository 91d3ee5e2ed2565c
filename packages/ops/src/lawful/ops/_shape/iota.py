"""Arrays without operands: iota and constants."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    as_dtype,
    current,
    get_aval,
    require_size,
    with_axes_of,
)
from lawful.ops._shape.reshape import broadcast_in_dim
from lawful.ops._support.large_integers import converted_integer
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import Shape, canonical_axis, check_sizes, static_integers, without_derivative

__all__ = ["broadcasted_iota", "full", "full_like", "iota", "iota_p"]

iota_p = Primitive("iota", pure_rules=True)
iota_p.def_rule("operations", no_operations)


def iota(dtype: Any, size: int) -> Any:
    """Returns ``0, 1, …, size - 1``.

    Raises:
      ArgumentTypeError: the dtype is not one of numbers.

    >>> iota("float32", 3)
    array([0., 1., 2.], dtype=float32)

    Source: ``jax.lax.iota``.
    """
    return broadcasted_iota(dtype, (operator.index(size),), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """Returns an array of which each element is its own index in one dimension.

    Args:
      dtype: the dtype of the result, one of numbers.
      shape: the shape of the result.
      dimension: the dimension that is counted.

    Raises:
      ArgumentTypeError: the dtype is not one of numbers.
      ArgumentValueError: there is no such dimension.

    >>> broadcasted_iota("int64", (2, 3), 1)
    array([[0, 1, 2],
           [0, 1, 2]])

    Source: ``jax.lax.broadcasted_iota``.
    """
    shape = static_integers("iota", "the shape", shape)
    dimension = canonical_axis("iota", dimension, len(shape))
    params = {"dtype": as_dtype(dtype), "shape": shape, "dimension": dimension}
    _abstract_eval(**params)
    return iota_p.bind(**params)


@iota_p.def_impl
def _impl(*, dtype: np.dtype[Any], shape: Shape, dimension: int) -> Any:
    require_size(shape, dtype)
    require_size((shape[dimension],), np.dtype(np.int64))
    count = np.arange(shape[dimension]).astype(dtype)
    if len(shape) == 1:
        return count
    out = np.empty(shape, dtype)
    out[...] = count.reshape([size if dim == dimension else 1 for dim, size in enumerate(shape)])
    return out


@iota_p.def_abstract_eval
def _abstract_eval(*, dtype: np.dtype[Any], shape: Shape, dimension: int) -> ShapedArray:
    if dtype.kind == "b":
        raise ArgumentTypeError("iota: expected a dtype of numbers, got bool; compare an integer iota instead")
    check_sizes("iota", shape)
    if not 0 <= dimension < len(shape):
        raise ArgumentValueError(
            f"iota: expected a dimension of the shape {shape}, got {dimension}; use one below {len(shape)}"
        )
    return ShapedArray(shape, dtype)


without_derivative(iota_p)
iota_p.declare_absent("transpose", "it has no operands in which it could be linear")
iota_p.declare_absent("batch", "it has no operands that could be batched")


@iota_p.def_lowering
def _lower(ctx: Any, *, dtype: np.dtype[Any], shape: Shape, dimension: int) -> Any:
    return ctx.hlo.iota(ctx.tensor_type(ctx.avals_out[0]), ctx.i64(dimension))


def _sample(choose: Choose) -> Call:
    shape = choose.shape(min_ndim=1)
    return (), {"dtype": choose.dtype("fiuc"), "shape": shape, "dimension": choose.integer(0, len(shape) - 1)}


def _reference(*, dtype: np.dtype[Any], shape: Shape, dimension: int) -> Any:
    return np.indices(shape)[dimension].astype(dtype)


iota_p.declaration = Declaration(sample=_sample, reference=_reference, domain=(), kinds="fiuc", differentiable=False)

# Constants


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Returns an array of one value.

    Args:
      shape: the shape of the result.
      fill_value: a scalar.
      dtype: the dtype of the result; by default that of the value.

    Raises:
      ArgumentTypeError: the value is no scalar.

    >>> full((2,), 7)
    array([7, 7])

    Source: ``jax.lax.full``.
    """
    shape = static_integers("full", "the shape", shape)
    check_sizes("full", shape)
    if dtype is not None:
        fill_value = converted_integer(fill_value, as_dtype(dtype))
    aval = get_aval(fill_value)
    if aval.shape:
        raise ArgumentTypeError(
            f"full: expected a scalar as fill_value, got {aval}; use broadcast_in_dim to repeat an array"
        )
    value = convert(fill_value, aval.dtype if dtype is None else as_dtype(dtype))
    if current.trace.evaluates_constants and isinstance(value, np.generic | np.ndarray):
        try:
            return np.full(shape, value, value.dtype)
        except ValueError:
            require_size(shape, value.dtype)
            raise
    return broadcast_in_dim(value, shape, ())


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Returns an array of one value, with the shape and dtype of another array.

    Inside ``shard_map`` it varies over the axes of the mesh that the other array varies over.

    Args:
      x: the array, of which only the type counts.
      fill_value: a scalar, which is converted to the dtype.
      dtype: a dtype instead of that of ``x``.
      shape: a shape instead of that of ``x``.

    Raises:
      ArgumentTypeError: the value is no scalar.

    >>> full_like(np.ones((2, 2), "float32"), 7)
    array([[7., 7.],
           [7., 7.]], dtype=float32)

    Source: ``jax.lax.full_like``.
    """
    aval = get_aval(x)
    filled = full(aval.shape if shape is None else shape, fill_value, aval.dtype if dtype is None else dtype)
    return with_axes_of(filled, aval) if aval.vma else filled
