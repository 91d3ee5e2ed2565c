"""Elementwise transcendental functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import Excluded, Interval, Primitive, get_aval, of_numpy
from lawful.ops._elementwise.arithmetic import BRANCH_CUT, add, div, mul, neg, rsqrt, sqrt, square, sub
from lawful.ops._elementwise.arithmetic_evaluation import lower_by
from lawful.ops._elementwise.complex_lowering import by_parts, corrected
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.double import lowered
from lawful.ops._support.dtypes import accumulation_dtype

__all__ = [
    "acos",
    "acos_p",
    "acosh",
    "acosh_p",
    "asin",
    "asin_p",
    "asinh",
    "asinh_p",
    "atan",
    "atan_p",
    "atanh",
    "atanh_p",
    "cos",
    "cos_p",
    "cosh",
    "cosh_p",
    "exp",
    "exp2",
    "exp2_p",
    "exp_p",
    "expm1",
    "expm1_p",
    "log",
    "log1p",
    "log1p_p",
    "log_p",
    "logistic",
    "logistic_p",
    "sin",
    "sin_p",
    "sinh",
    "sinh_p",
    "tan",
    "tan_p",
    "tanh",
    "tanh_p",
]

#: Below this the hyperbolic cosine is finite in float64.
_COSH_IS_FINITE = 710.0
_POSITIVE = Interval(0.3, 2.0)
_INSIDE_UNIT = Interval(-0.8, 0.8)
_CUT_BEYOND_MINUS_ONE = Excluded(
    lambda x: (np.imag(x) == 0) & (np.real(x) < -1), "a jump across the branch cut", order=0
)
_INFINITE_SLOPE_AT_ONE = tuple([Excluded(end, "the slope is infinite: a branch point") for end in (-1.0, 1.0)])
_ARC = Interval(-0.8, 0.8, _INFINITE_SLOPE_AT_ONE)
_CUT_OUTSIDE_ONE = Excluded(
    lambda x: (np.imag(x) == 0) & (np.abs(np.real(x)) > 1), "a jump across the branch cut", order=0
)
_CUT_BELOW_ONE = Excluded(lambda x: (np.imag(x) == 0) & (np.real(x) < 1), "a jump across the branch cut", order=0)
_CUT_ABOVE_I = Excluded(lambda x: (np.real(x) == 0) & (np.abs(np.imag(x)) > 1), "a jump across the branch cut", order=0)


def _chlo(name: str) -> Callable[[Any, Any], Any]:
    """Returns the lowering to an op of the client HLO dialect, which the compiler expands."""

    def lower(ctx: Any, x: Any) -> Any:
        return getattr(ctx.chlo, name)(x)

    return lower


def _lower_acosh(ctx: Any, x: Any) -> Any:
    # For complex numbers the correction converts the inverse cosine.
    return ctx.chlo.acos(x) if ctx.avals_in[0].dtype.kind == "c" else ctx.chlo.acosh(x)


@of_numpy
def _numpy_log1p(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.log1p(x)
    x = np.asarray(x)
    re, im = x.real, x.imag
    out = x.copy()
    out.real += 1
    out = np.log(out)  # not NumPy's log1p, in which the length of a large number overflows
    near = np.maximum(np.abs(re), np.abs(im)) < 0.5  # where the rounding of 1 + x matters
    with np.errstate(all="ignore"):
        exact = np.empty_like(out)  # not a sum with 1j times the angle, which loses the sign of zero
        exact.real, exact.imag = np.log1p(re * (2 + re) + im * im) / 2, np.arctan2(im, 1 + re)
    return np.where(near, exact, out).astype(out.dtype)[()]


@of_numpy
def _numpy_expm1(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.expm1(x)
    with np.errstate(invalid="ignore", over="ignore"):
        # Elsewhere infinity and overflow are as in exp.
        is_moderate = np.isfinite(x) & (np.real(x) < 40)
        return np.where(is_moderate, np.expm1(x), np.exp(x) - 1)[()]


def _lower_exp2(ctx: Any, x: Any) -> Any:
    # Not the exponential of a product, whose rounding error it would amplify.
    (aval,) = ctx.avals_in
    wide = aval.update(dtype=accumulation_dtype(aval.dtype))
    out = ctx.hlo.power(ctx.full(wide, 2), ctx.hlo.convert(ctx.tensor_type(wide), x))
    return ctx.hlo.convert(ctx.tensor_type(aval), out)


@of_numpy
def _numpy_logistic(x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind in "biu":  # an unsigned integer has no negative
        x = x.astype(np.exp.resolve_dtypes((x.dtype, None))[0])
    # The exponential of a number left of 0 cannot overflow.
    is_left = np.signbit(np.real(x))
    small = np.exp(-np.abs(x) if np.isrealobj(x) else np.where(is_left, x, -x))
    return np.where(is_left, small, 1) / (1 + small)


def _is_complex(x: Any) -> bool:
    return get_aval(x).dtype.kind == "c"


@of_numpy
def _numpy_sech_squared(x: Any) -> Any:
    # Not the reciprocal of the square, which overflows where the result does not.
    if type(x) is np.float64 and abs(x) < _COSH_IS_FINITE:  # the common case, without the cost of errstate
        sech = 1 / np.cosh(x)
        return sech * sech
    with np.errstate(over="ignore"):
        return np.square(np.reciprocal(np.cosh(x)))


def _sech_squared(x: Any) -> Any:
    # Not by the hyperbolic cosine, which XLA computes by two exponentials.
    small = np.exp(-2 * np.abs(x))
    rest = 1 + small
    return 4 * small / (rest * rest)


@of_numpy
def _numpy_one_minus_square(x: Any) -> Any:
    return np.subtract(1, x) * np.add(1, x)  # ufuncs, which return NumPy values for Python scalars too


@of_numpy
def _numpy_hypot_one(x: Any) -> Any:
    size = np.abs(x)
    large = np.maximum(size, 1)
    ratio = np.minimum(size, 1) / large
    return large * np.sqrt(1 + ratio * ratio)


def _slope_of_asinh(t: Any, ans: Any, x: Any) -> Any:
    return mul(t, rsqrt(add(square(x), 1))) if _is_complex(x) else div(t, hypot_one_p.bind(x))


def _slope_of_logistic(t: Any, ans: Any, x: Any) -> Any:
    if _is_complex(x):
        return mul(t, mul(ans, logistic(neg(x))))
    return mul(t, mul(sech_squared_p.bind(mul(x, 0.5)), 0.25))


def _factor(
    name: str,
    algorithm: Callable[..., Any],
    derivative: Callable[..., Any],
    kinds: str = "f",
    compiled: Callable[..., Any] | None = None,
) -> Primitive:
    """Declares a factor of derivatives that is exact where its definition by other ops is not.

    Args:
      name: the primitive.
      algorithm: evaluates it.
      derivative: its derivative.
      kinds: the dtype kinds that it takes.
      compiled: the algorithm of compiled programs, if it differs.
    """
    lower = lowered(compiled or algorithm)
    return elementwise(name, "", algorithm, lower, derivatives=(derivative,), kinds=kinds).primitive


#: ``1 - tanh(x) ** 2``, also where the hyperbolic tangent is near 1.
sech_squared_p: Primitive = _factor(
    "sech_squared",
    _numpy_sech_squared,
    lambda t, ans, x: mul(t, mul(mul(tanh(x), ans), -2)),
    compiled=_sech_squared,
)
#: ``1 - x ** 2``, also where ``x`` is near 1, with a derivative in which no terms cancel.
one_minus_square_p: Primitive = _factor(
    "one_minus_square", _numpy_one_minus_square, lambda t, ans, x: mul(t, mul(x, -2)), "fc"
)
#: ``sqrt(1 + x ** 2)``, also where the square overflows.
hypot_one_p: Primitive = _factor("hypot_one", _numpy_hypot_one, lambda t, ans, x: mul(t, div(x, ans)))
exp: Elementwise = elementwise(
    "exp",
    "Returns the exponential.",
    np.exp,
    corrected("exp", lower_by("exponential")),
    derivatives=(lambda t, ans, x: mul(t, ans),),
    kinds="fc",
)
exp2: Elementwise = elementwise(
    "exp2",
    "Returns ``2 ** x``.",
    np.exp2,
    by_parts("exp2", _lower_exp2),
    derivatives=(lambda t, ans, x: mul(t, mul(ans, math.log(2.0))),),
    kinds="fc",
)
expm1: Elementwise = elementwise(
    "expm1",
    "Returns ``exp(x) - 1``, exact near 0.",
    _numpy_expm1,
    corrected("expm1", lower_by("exponential_minus_one")),
    promote_as=np.expm1,
    # Not ans + 1, which cancels where ans is near -1.
    derivatives=(lambda t, ans, x: mul(t, exp(x)),),
    kinds="fc",
)
log: Elementwise = elementwise(
    "log",
    "Returns the natural logarithm.",
    np.log,
    corrected("log", lower_by("log")),
    derivatives=(lambda t, ans, x: div(t, x),),
    kinds="fc",
    excluded=(BRANCH_CUT,),
    domain=(_POSITIVE,),
)
log1p: Elementwise = elementwise(
    "log1p",
    "Returns ``log(1 + x)``, exact near 0.",
    _numpy_log1p,
    corrected("log", lower_by("log_plus_one")),
    promote_as=np.log1p,
    derivatives=(lambda t, ans, x: div(t, add(x, 1)),),
    kinds="fc",
    excluded=(_CUT_BEYOND_MINUS_ONE,),
    domain=(_INSIDE_UNIT,),
)
sin: Elementwise = elementwise(
    "sin",
    "Returns the sine.",
    np.sin,
    by_parts("sin", lower_by("sine")),
    derivatives=(lambda t, ans, x: mul(t, cos(x)),),
    kinds="fc",
)
cos: Elementwise = elementwise(
    "cos",
    "Returns the cosine.",
    np.cos,
    by_parts("cos", lower_by("cosine")),
    derivatives=(lambda t, ans, x: neg(mul(t, sin(x))),),
    kinds="fc",
)
tan: Elementwise = elementwise(
    "tan",
    "Returns the tangent.",
    np.tan,
    corrected("tan", lower_by("tan")),
    derivatives=(lambda t, ans, x: mul(t, add(square(ans), 1)),),
    kinds="fc",
    domain=(Interval(-1.2, 1.2),),
)
asin: Elementwise = elementwise(
    "asin",
    "Returns the inverse sine.",
    np.arcsin,
    corrected("asin", _chlo("asin")),
    derivatives=(lambda t, ans, x: mul(t, rsqrt(one_minus_square_p.bind(x))),),
    kinds="fc",
    excluded=(_CUT_OUTSIDE_ONE,),
    domain=(_ARC,),
)
acos: Elementwise = elementwise(
    "acos",
    "Returns the inverse cosine.",
    np.arccos,
    corrected("acos", _chlo("acos")),
    derivatives=(lambda t, ans, x: neg(mul(t, rsqrt(one_minus_square_p.bind(x)))),),
    kinds="fc",
    excluded=(_CUT_OUTSIDE_ONE,),
    domain=(_ARC,),
)
atan: Elementwise = elementwise(
    "atan",
    "Returns the inverse tangent.",
    np.arctan,
    corrected("atan", _chlo("atan")),
    derivatives=(lambda t, ans, x: div(t, add(square(x), 1)),),
    kinds="fc",
    excluded=(_CUT_ABOVE_I,),
)
sinh: Elementwise = elementwise(
    "sinh",
    "Returns the hyperbolic sine.",
    np.sinh,
    by_parts("sinh", _chlo("sinh")),
    derivatives=(lambda t, ans, x: mul(t, cosh(x)),),
    kinds="fc",
)
cosh: Elementwise = elementwise(
    "cosh",
    "Returns the hyperbolic cosine.",
    np.cosh,
    by_parts("cosh", _chlo("cosh")),
    derivatives=(lambda t, ans, x: mul(t, sinh(x)),),
    kinds="fc",
)
tanh: Elementwise = elementwise(
    "tanh",
    "Returns the hyperbolic tangent.",
    np.tanh,
    corrected("tanh", lower_by("tanh")),
    derivatives=(lambda t, ans, x: mul(t, sub(1, square(ans)) if _is_complex(x) else sech_squared_p.bind(x)),),
    kinds="fc",
)
asinh: Elementwise = elementwise(
    "asinh",
    "Returns the inverse hyperbolic sine.",
    np.arcsinh,
    corrected("asinh", _chlo("asinh")),
    derivatives=(_slope_of_asinh,),
    kinds="fc",
    excluded=(_CUT_ABOVE_I,),
)
acosh: Elementwise = elementwise(
    "acosh",
    "Returns the inverse hyperbolic cosine.",
    np.arccosh,
    corrected("acosh", _lower_acosh),
    # Not the root of the product, which is on another branch for complex numbers.
    derivatives=(lambda t, ans, x: div(t, mul(sqrt(sub(x, 1)), sqrt(add(x, 1)))),),
    kinds="fc",
    excluded=(_CUT_BELOW_ONE,),
    domain=(Interval(1.5, 3.0, (Excluded(1.0, "the slope is infinite: a branch point"),)),),
)
atanh: Elementwise = elementwise(
    "atanh",
    "Returns the inverse hyperbolic tangent.",
    np.arctanh,
    corrected("atanh", _chlo("atanh")),
    derivatives=(lambda t, ans, x: div(t, one_minus_square_p.bind(x)),),
    kinds="fc",
    excluded=(_CUT_OUTSIDE_ONE,),
    domain=(_INSIDE_UNIT,),
)
logistic: Elementwise = elementwise(
    "logistic",
    "Returns ``1 / (1 + exp(-x))``.",
    _numpy_logistic,
    by_parts("logistic", lower_by("logistic")),
    promote_as=np.exp,
    # Not ans * (1 - ans), which cancels where ans is near 1, and whose derivative cancels near 0.
    derivatives=(_slope_of_logistic,),
    kinds="fc",
)

exp_p, exp2_p, expm1_p, log_p, log1p_p = exp.primitive, exp2.primitive, expm1.primitive, log.primitive, log1p.primitive
sin_p, cos_p, tan_p, asin_p, acos_p = sin.primitive, cos.primitive, tan.primitive, asin.primitive, acos.primitive
atan_p, sinh_p, cosh_p, tanh_p = atan.primitive, sinh.primitive, cosh.primitive, tanh.primitive
asinh_p, acosh_p, atanh_p, logistic_p = asinh.primitive, acosh.primitive, atanh.primitive, logistic.primitive
