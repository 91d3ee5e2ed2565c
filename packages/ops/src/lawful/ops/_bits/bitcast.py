"""Bitcasts: the bits of an array read as another dtype."""

from __future__ import annotations

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
    Zero,
    as_dtype,
    get_aval,
    require_arithmetic,
)
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.structural import strong

__all__ = ["bitcast_convert_type", "bitcast_convert_type_p"]

Dtype = np.dtype[Any]

bitcast_convert_type_p = Primitive("bitcast_convert_type", pure_rules=True)
bitcast_convert_type_p.def_rule("operations", no_operations)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """Returns the bits of ``operand`` read as another dtype.

    Args:
      operand: an array. One of booleans or complex numbers can only stay what it is.
      new_dtype: a dtype or its name. Of a narrower one several elements come from one, in a new last dimension,
        that of the lowest bits first; of a wider one the last dimension, which has to be as long as that, goes away.

    Returns:
      An array of ``new_dtype``. It has no derivative.

    Raises:
      ArgumentTypeError: one of the dtypes is bool or complex, and not the other one.
      ArgumentValueError: the last dimension does not make one element of a wider dtype.

    >>> bitcast_convert_type(np.array([1.0, -2.0], "float32"), "uint32")
    array([1065353216, 3221225472], dtype=uint32)
    >>> bitcast_convert_type(np.array(258, "uint16"), "uint8")
    array([2, 1], dtype=uint8)

    Source: ``jax.lax.bitcast_convert_type``.
    """
    return bitcast_convert_type_p.bind(strong(operand), new_dtype=as_dtype(new_dtype))


def _shape(shape: tuple[int, ...], dtype: Dtype, new_dtype: Dtype) -> tuple[int, ...]:
    """Returns the shape of the result; raises an error for arguments that do not fit."""
    if dtype == new_dtype:
        return shape
    require_arithmetic("bitcast_convert_type", dtype, new_dtype)
    if {dtype.kind, new_dtype.kind} & set("bc"):
        raise ArgumentTypeError(
            f"bitcast_convert_type: expected two dtypes of integers or floats, got {dtype} and {new_dtype}; "
            "convert_element_type converts values, real and imag give the parts of complex numbers"
        )
    old, new = dtype.itemsize, new_dtype.itemsize
    if new <= old:
        return shape if new == old else (*shape, old // new)
    if not shape or shape[-1] * old != new:
        raise ArgumentValueError(
            f"bitcast_convert_type: expected a last dimension of length {new // old} to make {new_dtype} of {dtype}, "
            f"got the shape {shape}; reshape to (..., {new // old})"
        )
    return shape[:-1]


@bitcast_convert_type_p.def_impl
def _impl(x: Any, *, new_dtype: Dtype) -> Any:
    x = np.asarray(x)
    shape = _shape(x.shape, x.dtype, new_dtype)
    flat = np.ascontiguousarray(x).reshape(-1)
    return flat.view(new_dtype).reshape(shape).copy()[()]


@bitcast_convert_type_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, new_dtype: Dtype) -> ShapedArray:
    return ShapedArray(_shape(x.shape, x.dtype, new_dtype), new_dtype)


@bitcast_convert_type_p.def_jvp
def _jvp(primals: Any, tangents: Any, *, new_dtype: Dtype) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    ans = bitcast_convert_type_p.bind(x, new_dtype=new_dtype)
    if get_aval(x).dtype == new_dtype and type(t) is not Zero:
        return ans, t  # the identity
    return ans, Zero(get_aval(ans).to_tangent_aval())


@bitcast_convert_type_p.def_batch
def _batch(args: Any, dims: Any, *, new_dtype: Dtype) -> tuple[Any, int]:
    return bitcast_convert_type_p.bind(move_batch_dim(args[0], dims[0]), new_dtype=new_dtype), 0


@bitcast_convert_type_p.def_lowering
def _lower(ctx: Any, x: Any, *, new_dtype: Dtype) -> Any:
    if ctx.avals_in[0].dtype == new_dtype:
        return x
    return ctx.hlo.bitcast_convert(ctx.tensor_type(ctx.avals_out[0]), x)


bitcast_convert_type_p.declare_absent("transpose", "the bits of a number are not linear in it")


def _sample(choose: Choose) -> Call:
    dtype, new_dtype = choose.dtype("fiu"), choose.dtype("fiu")
    shape = choose.shape()
    if new_dtype.itemsize > dtype.itemsize:
        shape = (*shape[:-1], new_dtype.itemsize // dtype.itemsize)
    return (ShapedArray(shape, dtype),), {"new_dtype": new_dtype}


def _reference(x: Any, *, new_dtype: Dtype) -> Any:
    """Reads the memory of the array."""
    x = np.asarray(x)
    shape = _shape(x.shape, x.dtype, new_dtype)
    return np.frombuffer(x.tobytes(), new_dtype).reshape(shape)


bitcast_convert_type_p.declaration = Declaration(
    sample=_sample, reference=_reference, kinds="fiu", differentiable=False
)
