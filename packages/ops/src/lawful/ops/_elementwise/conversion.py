"""Conversion from one dtype to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import (
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    Zero,
    as_dtype,
    by_elements,
    current,
    get_aval,
    is_inexact,
    storage_dtypes,
    with_axes_of,
)
from lawful.ops._support.large_integers import converted_integer, require_fitting
from lawful.ops._support.operation_counts import one_an_element
from lawful.ops._support.promotion import cast, convert

__all__ = ["convert_element_type", "convert_element_type_p", "with_weakness_of"]

convert_element_type_p = Primitive("convert_element_type", pure_rules=True)
convert_element_type_p.def_rule("operations", one_an_element)

_REAL = (np.dtype(np.float32), np.dtype(np.float64))
_BOOL = np.dtype(bool)
#: The types of weak values, by dtype.
_PYTHON_TYPES = {_BOOL: bool, np.dtype(np.int64): int, np.dtype(np.float64): float, np.dtype(np.complex128): complex}
#: Dtypes whose scalar types convert numbers as arrays do.
_SCALARS = frozenset(map(np.dtype, "?bhilBHILfdFD"))


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """Returns ``operand`` with its elements converted to another dtype, as ``numpy.astype``.

    A float outside of the range of an integer dtype becomes the nearest integer in it, and NaN becomes 0.

    Args:
      operand: an array of any shape and dtype. Of a complex one that becomes real, the real part is taken.
      new_dtype: a dtype or its name.

    Raises:
      ArgumentTypeError: there are no arrays of such a dtype.

    >>> convert_element_type(np.array([1.5, -1.5]), "int32")
    array([ 1, -1], dtype=int32)

    Source: ``jax.lax.convert_element_type``.
    """
    dtype = as_dtype(new_dtype)
    if current.trace.evaluates_constants:
        return convert(operand, dtype)
    operand = converted_integer(operand, dtype)
    aval = get_aval(operand)
    if aval.dtype == dtype and not aval.weak_type:
        return operand
    if type(operand) is int:
        require_fitting(operand, dtype)  # a compiler would wrap it around
    return convert_element_type_p.bind(operand, new_dtype=dtype, weak_type=False)


@convert_element_type_p.def_impl
@by_elements
def _impl(x: Any, *, new_dtype: np.dtype[Any], weak_type: bool) -> Any:
    if type(x) is int:  # it wraps around as in a compiled program, which cannot see that it does not fit
        x = np.int64(x)
    return cast(x, new_dtype).item() if weak_type else cast(x, new_dtype)


def _is_exact(dtype: np.dtype[Any], new_dtype: np.dtype[Any]) -> bool:
    """Whether a scalar type converts the numbers of a dtype: there is nothing to round or to saturate."""
    if dtype not in _SCALARS or new_dtype not in _SCALARS:
        return False
    is_wider = dtype in _REAL and new_dtype in _REAL and dtype.itemsize <= new_dtype.itemsize
    return dtype in (new_dtype, _BOOL) or is_wider


@convert_element_type_p.def_rule_as("numpy")
def _specialised(
    avals: Sequence[ShapedArray], compile: Any, *, new_dtype: np.dtype[Any], weak_type: bool
) -> Callable[..., Any]:
    """Returns the function for operands of a type: the scalar type itself where the conversion is exact."""
    impl = convert_element_type_p.rule("impl")
    (aval,) = avals
    if impl is _impl and not aval.shape and _is_exact(aval.dtype, new_dtype):
        function = _PYTHON_TYPES.get(new_dtype) if weak_type else new_dtype.type
        if function is not None:
            return function
    return partial(impl, new_dtype=new_dtype, weak_type=weak_type)


@convert_element_type_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, new_dtype: np.dtype[Any], weak_type: bool) -> ShapedArray:
    return ShapedArray(x.shape, new_dtype, weak_type)


@convert_element_type_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    ans = convert_element_type_p.bind(x, **params)
    aval = get_aval(ans)
    if type(t) is Zero or not is_inexact(aval.dtype):
        return ans, Zero(aval.to_tangent_aval())
    return ans, convert_element_type_p.bind(t, **params)


@convert_element_type_p.def_transpose
def _transpose(ct: Any, x: Any, **_: Any) -> list[Any]:
    if type(ct) is Zero:
        return [Zero(x.aval)]
    return [convert(ct, x.aval.dtype, x.aval.weak_type)]


@convert_element_type_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int], *, new_dtype: np.dtype[Any], weak_type: bool) -> tuple[Any, int]:
    # A batch of weak scalars is an array, which is strong.
    return convert_element_type_p.bind(args[0], new_dtype=new_dtype, weak_type=False), dims[0]


@convert_element_type_p.def_lowering
def _lower(ctx: Any, x: Any, *, new_dtype: np.dtype[Any], weak_type: bool) -> Any:
    (aval,) = ctx.avals_in
    if aval.dtype == new_dtype:
        return x
    if aval.dtype.kind == "c" and new_dtype.kind not in "cb":
        x = ctx.hlo.real(x)
    if new_dtype.kind == "b":
        return ctx.compare(x, ctx.full(aval, 0), "NE")
    if aval.dtype.kind == "b" and is_inexact(new_dtype):
        # Not a conversion: XLA rewrites ``convert(b) * y`` to ``select(b, y, 0)``, in which 0 times infinity is 0.
        out = ctx.avals_out[0]
        return ctx.hlo.select(x, ctx.full(out, 1), ctx.full(out, 0))
    if new_dtype in storage_dtypes:
        return _lower_to_small(ctx, x, new_dtype)
    return ctx.hlo.convert(ctx.tensor_type(ctx.avals_out[0]), x)


def _lower_to_small(ctx: Any, x: Any, new_dtype: np.dtype[Any]) -> Any:
    """Converts to integers of 2 or 4 bits, which a program holds in 8: integers wrap around, floats saturate."""
    hlo, aval, bounds = ctx.hlo, ctx.avals_out[0], ml_dtypes.iinfo(new_dtype)
    held = hlo.convert(ctx.tensor_type(aval), x)
    wide = aval.update(dtype=storage_dtypes[new_dtype])
    if is_inexact(ctx.avals_in[0].dtype):
        return hlo.clamp(ctx.full(wide, bounds.min), held, ctx.full(wide, bounds.max))
    unused = ctx.full(wide, 8 - bounds.bits)
    shift_right = hlo.shift_right_arithmetic if bounds.min else hlo.shift_right_logical
    return shift_right(hlo.shift_left(held, unused), unused)


def _sample(choose: Choose) -> tuple[tuple[ShapedArray, ...], dict[str, Any]]:
    aval = ShapedArray(choose.shape(), choose.dtype("fiubc"))
    return (aval,), {"new_dtype": choose.dtype("fiubc"), "weak_type": False}


convert_element_type_p.declaration = Declaration(
    sample=_sample,
    reference=lambda x, *, new_dtype, weak_type: cast(x, new_dtype),
    kinds="fiubc",
    linear=((0,),),
)


def with_weakness_of(x: Any, aval: ShapedArray) -> Any:
    """Returns ``x`` with the weakness of ``aval``, whose shape and dtype it has: types inside jaxprs are exact.

    It also varies over the axes of ``aval``.

    >>> with_weakness_of(np.float64(2.0), get_aval(1.0))
    2.0
    """
    have = get_aval(x)
    if have is aval:
        return x
    if have.vma != aval.vma:
        x = with_axes_of(x, aval)
        if have.weak_type == aval.weak_type:
            return x
    if type(x) is np.float64 and have.dtype is aval.dtype:  # the common case
        return x.item()
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)
