"""Evaluation of arithmetic by NumPy, and its lowering to StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, by_elements
from lawful.ops._elementwise.comparison import lower_comparison


def lower_by(name: str) -> Callable[..., Any]:
    """Returns the lowering to an op of StableHLO."""

    def lower(ctx: Any, *operands: Any) -> Any:
        return ctx.op(name, *operands)

    return lower


def lower_by_chlo(name: str) -> Callable[[Any, Any], Any]:
    """Returns the lowering to an op of the client HLO dialect, which the compiler expands."""

    def lower(ctx: Any, x: Any) -> Any:
        return getattr(ctx.chlo, name)(x)

    return lower


def numpy_div(x: Any, y: Any) -> Any:
    """Returns quotients, those of integers rounded towards zero."""
    dtype = np.result_type(x, y)
    if dtype.kind == "b":
        raise ArgumentTypeError("div: expected numbers, got booleans; convert with astype, or use true_divide")
    if dtype.kind not in "iu":
        return np.true_divide(x, y)
    quotient = np.floor_divide(x, y)
    return (quotient + ((np.remainder(x, y) != 0) & (quotient < 0))).astype(dtype)


def lower_division(name: str) -> Callable[[Any, Any, Any], Any]:
    """Returns the lowering of an op that divides; integers divided by zero give 0, as in NumPy."""

    def lower(ctx: Any, x: Any, y: Any) -> Any:
        divide = getattr(ctx.hlo, name)
        aval = ctx.avals_in[0]
        if aval.dtype.kind not in "iu":
            return divide(x, y)
        zero = ctx.full(aval, 0)
        by_zero = ctx.compare(y, zero, "EQ")
        return ctx.hlo.select(by_zero, zero, divide(x, ctx.hlo.select(by_zero, ctx.full(aval, 1), y)))

    return lower


@by_elements
def numpy_rsqrt(x: Any) -> Any:
    """Returns one over the square root; 0 for every infinite complex number."""
    if not np.iscomplexobj(x):
        return np.reciprocal(np.sqrt(x))
    with np.errstate(invalid="ignore"):  # infinities are replaced below
        root = np.sqrt(x)
        out = np.true_divide(root.dtype.type(1), root)  # not the reciprocal, which is NaN in both parts at 0
    # The root of an infinite number has two infinite parts and no reciprocal; its limit is 0 in every direction.
    zero = np.empty_like(out)
    zero.real, zero.imag = 0, np.copysign(0, -np.imag(x))
    return np.where(np.isinf(x), zero, out)[()]


@by_elements
def numpy_sign(x: Any) -> Any:
    """Returns the sign; that of a complex number by a length that neither overflows nor underflows."""
    if not np.iscomplexobj(x):
        return np.sign(x)
    # The length of the largest numbers overflows, and that of subnormal ones is inexact.
    x = np.asarray(x)
    is_large = np.fmax(np.abs(x.real), np.abs(x.imag)) > 1  # not NaN beside NaN
    scale = np.where(is_large, 0.25, 2.0**64).astype(x.real.dtype)
    scaled = np.empty_like(x)
    scaled.real, scaled.imag = x.real * scale, x.imag * scale
    return np.sign(scaled)[()]


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of the real part."""
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype


def lower_square(ctx: Any, x: Any) -> Any:
    """Returns ``x * x``."""
    return ctx.hlo.multiply(x, x)


def lower_abs(ctx: Any, x: Any) -> Any:
    """Returns the absolute value; the operand itself if it is unsigned."""
    return x if ctx.avals_in[0].dtype.kind in "ub" else ctx.hlo.abs(x)


def lower_sqrt(ctx: Any, x: Any) -> Any:
    """Returns the square root."""
    return ctx.hlo.sqrt(x)


def lower_rounding(name: str) -> Callable[[Any, Any], Any]:
    """Returns the lowering to a StableHLO op of floats, which does nothing to an integer."""

    def lower(ctx: Any, x: Any) -> Any:
        return x if ctx.avals_in[0].dtype.kind in "iub" else getattr(ctx.hlo, name)(x)

    return lower


def lower_round(ctx: Any, x: Any) -> Any:
    """Rounds to the nearest integers, complex numbers by parts."""
    hlo = ctx.hlo
    if ctx.avals_in[0].dtype.kind != "c":
        return hlo.round_nearest_even(x)
    return hlo.complex(hlo.round_nearest_even(hlo.real(x)), hlo.round_nearest_even(hlo.imag(x)))


def lower_extremum(name: str, direction: str) -> Callable[[Any, Any, Any], Any]:
    """Returns the lowering to a StableHLO op; complex numbers are compared as in NumPy, which StableHLO does not do."""

    def lower(ctx: Any, x: Any, y: Any) -> Any:
        if ctx.avals_in[0].dtype.kind != "c":
            return getattr(ctx.hlo, name)(x, y)
        first = ctx.hlo.or_(ctx.compare(x, x, "NE"), lower_comparison(ctx, x, y, direction))
        return ctx.hlo.select(first, x, y)

    return lower


def lower_sign(ctx: Any, x: Any) -> Any:
    """Returns the sign: 0 for a zero of any sign."""
    aval = ctx.avals_in[0]
    if aval.dtype.kind == "i":
        return ctx.hlo.sign(x)
    if aval.dtype.kind != "u":
        zero = ctx.full(aval, 0)
        return ctx.hlo.select(ctx.compare(x, zero, "EQ"), zero, ctx.hlo.sign(x))
    # StableHLO has no sign of unsigned integers: it is the smaller of the number and one.
    return ctx.hlo.minimum(x, ctx.full(aval, 1))
