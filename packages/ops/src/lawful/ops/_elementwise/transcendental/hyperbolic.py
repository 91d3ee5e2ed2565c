"""Hyperbolic functions, their inverses, and the logistic function."""

from __future__ import annotations

from contextvars import Context
from typing import Any, Final

import numpy as np

from lawful.core import Excluded, Interval, Primitive, by_elements, get_aval, of_numpy
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul, neg, rsqrt, sqrt, sub
from lawful.ops._elementwise.arithmetic.evaluation import lower_by, lower_by_chlo
from lawful.ops._elementwise.branch_cuts import CUT_BELOW_ONE, CUT_OUTSIDE_I, CUT_OUTSIDE_ONE
from lawful.ops._elementwise.complex_lowering import by_parts, corrected
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.derivative_factors import (
    complex_sech_squared,
    derivative_factor,
    hypot_one_p,
    one_minus_square_p,
    rsqrt_one_minus_square,
    zero_when_far,
)

__all__ = [
    "acosh",
    "acosh_p",
    "asinh",
    "asinh_p",
    "atanh",
    "atanh_p",
    "cosh",
    "cosh_p",
    "logistic",
    "logistic_p",
    "sinh",
    "sinh_p",
    "tanh",
    "tanh_p",
]


#: Below this the hyperbolic cosine is finite in float64.
_COSH_IS_FINITE = 710.0
# From this many elements on, an exponential is faster than a hyperbolic cosine, for float32.
_MANY = 512
#: A context without warnings of overflow. It is 10× faster than to enter ``np.errstate``.
_SILENT: Final = Context()
_SILENT.run(np.seterr, over="ignore")


def _lower_acosh(ctx: Any, x: Any) -> Any:
    # For complex numbers the correction converts the inverse cosine.
    return ctx.chlo.acos(x) if ctx.avals_in[0].dtype.kind == "c" else ctx.chlo.acosh(x)


@by_elements
@of_numpy
def _numpy_logistic(x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind in "biu":  # an unsigned integer has no negative
        x = x.astype(np.exp.resolve_dtypes((x.dtype, None))[0])
    # The exponential of a number left of 0 cannot overflow.
    is_left = np.signbit(np.real(x))
    small = np.exp(-np.abs(x) if np.isrealobj(x) else np.where(is_left, x, -x))
    one = small.dtype.type(1)  # NumPy 2.1 promotes bfloat16 with a Python number to float32
    return np.where(is_left, small, one) / (one + small)


def _is_complex(x: Any) -> bool:
    return get_aval(x).dtype.kind == "c"


@by_elements
@of_numpy
def _numpy_sech_squared(x: Any) -> Any:
    # Not the reciprocal of the square, which overflows where the result does not.
    if type(x) is np.ndarray and x.ndim:
        if x.size >= _MANY and x.dtype == np.float32:  # half the time of the hyperbolic cosine
            small = np.abs(x)
            small *= -2
            np.exp(small, small)
            rest = small + 1
            rest *= rest
            small *= 4
            small /= rest
            return small
        sech = _SILENT.copy().run(np.cosh, x)
        np.reciprocal(sech, sech)
        return np.square(sech, sech)
    if type(x) is np.float64 and abs(x) < _COSH_IS_FINITE:  # the common case
        sech = 1 / np.cosh(x)
        return sech * sech
    return np.square(np.reciprocal(_SILENT.copy().run(np.cosh, x)))


def _sech_squared(x: Any) -> Any:
    # Not by the hyperbolic cosine, which XLA computes by two exponentials.
    small = np.exp(-2 * np.abs(x))
    rest = 1 + small
    return 4 * small / (rest * rest)


def _slope_of_asinh(t: Any, ans: Any, x: Any) -> Any:
    if not _is_complex(x):
        return div(t, hypot_one_p.bind(x))
    return mul(t, zero_when_far(_complex_slope_of_asinh, x))


def _complex_slope_of_asinh(x: Any) -> Any:
    return rsqrt_one_minus_square(complex(neg(imag(x)), real(x)))  # a product with i would lose the sign of a zero part


def _slope_of_acosh(t: Any, ans: Any, x: Any) -> Any:
    # Not the root of the product, which is on another branch for complex numbers; a sum loses the sign of a zero part.
    if not _is_complex(x):
        return mul(t, mul(rsqrt(sub(x, 1)), rsqrt(sub(x, -1))))  # not a quotient, which is NaN at infinity
    return mul(t, zero_when_far(lambda x: div(1, mul(sqrt(sub(x, 1)), sqrt(sub(x, -1)))), x))


def _slope_of_atanh(t: Any, ans: Any, x: Any) -> Any:
    if not _is_complex(x):
        return div(t, one_minus_square_p.bind(x))
    return mul(t, zero_when_far(lambda x: div(1, one_minus_square_p.bind(x)), x, squared=True))


def _slope_of_logistic(t: Any, ans: Any, x: Any) -> Any:
    if _is_complex(x):
        return mul(t, mul(ans, logistic(neg(x))))
    return mul(t, mul(sech_squared_p.bind(mul(x, 0.5)), 0.25))


#: ``1 - tanh(x) ** 2``, also where the hyperbolic tangent is near 1.
sech_squared_p: Primitive = derivative_factor(
    "sech_squared",
    _numpy_sech_squared,
    lambda t, ans, x: mul(t, mul(mul(tanh(x), ans), -2)),
    compiled=_sech_squared,
)
sinh: Elementwise = elementwise(
    "sinh",
    "Returns the hyperbolic sine.",
    np.sinh,
    by_parts("sinh", lower_by_chlo("sinh")),
    derivatives=(lambda t, ans, x: mul(t, cosh(x)),),
    kinds="fc",
    example=("sinh(np.array([0.0, 1.0])).round(3)", "array([0.   , 1.175])"),
)
cosh: Elementwise = elementwise(
    "cosh",
    "Returns the hyperbolic cosine.",
    np.cosh,
    by_parts("cosh", lower_by_chlo("cosh")),
    derivatives=(lambda t, ans, x: mul(t, sinh(x)),),
    kinds="fc",
    example=("cosh(np.array([0.0, 1.0])).round(3)", "array([1.   , 1.543])"),
)
tanh: Elementwise = elementwise(
    "tanh",
    "Returns the hyperbolic tangent.",
    np.tanh,
    corrected("tanh", lower_by("tanh")),
    derivatives=(lambda t, ans, x: mul(t, complex_sech_squared(ans, x) if _is_complex(x) else sech_squared_p.bind(x)),),
    kinds="fc",
    example=("tanh(np.array([0.0, 1.0])).round(3)", "array([0.   , 0.762])"),
)
asinh: Elementwise = elementwise(
    "asinh",
    "Returns the inverse hyperbolic sine.",
    np.arcsinh,
    corrected("asinh", lower_by_chlo("asinh")),
    derivatives=(_slope_of_asinh,),
    kinds="fc",
    excluded=(CUT_OUTSIDE_I,),
    example=("asinh(np.array([0.0, 1.0])).round(3)", "array([0.   , 0.881])"),
)
acosh: Elementwise = elementwise(
    "acosh",
    "Returns the inverse hyperbolic cosine.",
    np.arccosh,
    corrected("acosh", _lower_acosh),
    derivatives=(_slope_of_acosh,),
    kinds="fc",
    excluded=(CUT_BELOW_ONE,),
    domain=(Interval(1.5, 3.0, (Excluded(1.0, "the slope is infinite: a branch point"),)),),
    example=("acosh(np.array([1.0, 2.0])).round(3)", "array([0.   , 1.317])"),
)
atanh: Elementwise = elementwise(
    "atanh",
    "Returns the inverse hyperbolic tangent.",
    np.arctanh,
    corrected("atanh", lower_by_chlo("atanh")),
    derivatives=(_slope_of_atanh,),
    kinds="fc",
    excluded=(CUT_OUTSIDE_ONE,),
    domain=(Interval(-0.8, 0.8),),
    example=("atanh(np.array([0.0, 0.5])).round(3)", "array([0.   , 0.549])"),
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
    example=("logistic(np.array([0.0, 1.0])).round(3)", "array([0.5  , 0.731])"),
)

sinh_p = sinh.primitive
cosh_p = cosh.primitive
tanh_p = tanh.primitive
asinh_p = asinh.primitive
acosh_p = acosh.primitive
atanh_p = atanh.primitive
logistic_p = logistic.primitive
