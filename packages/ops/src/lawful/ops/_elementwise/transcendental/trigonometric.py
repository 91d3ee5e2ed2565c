"""Trigonometric functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import Excluded, Interval, get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, mul, neg, square
from lawful.ops._elementwise.arithmetic.evaluation import lower_by, lower_by_chlo
from lawful.ops._elementwise.branch_cuts import CUT_OUTSIDE_I, CUT_OUTSIDE_ONE
from lawful.ops._elementwise.complex_lowering import by_parts, corrected
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.derivative_factors import (
    complex_sech_squared,
    rsqrt_one_minus_square,
    zero_when_far,
)

__all__ = [
    "acos",
    "acos_p",
    "asin",
    "asin_p",
    "atan",
    "atan_p",
    "cos",
    "cos_p",
    "sin",
    "sin_p",
    "tan",
    "tan_p",
]


_ARC = Interval(-0.8, 0.8, tuple([Excluded(end, "the slope is infinite: a branch point") for end in (-1.0, 1.0)]))


def _slope_of_tan(t: Any, ans: Any, x: Any) -> Any:
    if get_aval(x).dtype.kind != "c":
        return mul(t, add(square(ans), 1))
    return mul(t, complex_sech_squared(*(complex(neg(imag(z)), real(z)) for z in (ans, x))))


sin: Elementwise = elementwise(
    "sin",
    "Returns the sine.",
    np.sin,
    by_parts("sin", lower_by("sine")),
    derivatives=(lambda t, ans, x: mul(t, cos(x)),),
    kinds="fc",
    example=("sin(np.array([0.0, 1.0])).round(3)", "array([0.   , 0.841])"),
)
cos: Elementwise = elementwise(
    "cos",
    "Returns the cosine.",
    np.cos,
    by_parts("cos", lower_by("cosine")),
    derivatives=(lambda t, ans, x: neg(mul(t, sin(x))),),
    kinds="fc",
    example=("cos(np.array([0.0, 1.0])).round(3)", "array([1.  , 0.54])"),
)
tan: Elementwise = elementwise(
    "tan",
    "Returns the tangent.",
    np.tan,
    corrected("tan", lower_by("tan")),
    derivatives=(_slope_of_tan,),
    kinds="fc",
    domain=(Interval(-1.2, 1.2),),
    example=("tan(np.array([0.0, 1.0])).round(3)", "array([0.   , 1.557])"),
)


def _slope_of_atan(t: Any, ans: Any, x: Any) -> Any:
    if get_aval(x).dtype.kind != "c":
        return div(t, add(square(x), 1))
    return mul(t, zero_when_far(lambda x: div(1, add(square(x), 1)), x, squared=True))


asin: Elementwise = elementwise(
    "asin",
    "Returns the inverse sine.",
    np.arcsin,
    corrected("asin", lower_by_chlo("asin")),
    derivatives=(lambda t, ans, x: mul(t, zero_when_far(rsqrt_one_minus_square, x)),),
    kinds="fc",
    excluded=(CUT_OUTSIDE_ONE,),
    domain=(_ARC,),
    example=("asin(np.array([0.0, 1.0])).round(3)", "array([0.   , 1.571])"),
)
acos: Elementwise = elementwise(
    "acos",
    "Returns the inverse cosine.",
    np.arccos,
    corrected("acos", lower_by_chlo("acos")),
    derivatives=(lambda t, ans, x: neg(mul(t, zero_when_far(rsqrt_one_minus_square, x))),),
    kinds="fc",
    excluded=(CUT_OUTSIDE_ONE,),
    domain=(_ARC,),
    example=("acos(np.array([-1.0, 1.0])).round(3)", "array([3.142, 0.   ])"),
)
atan: Elementwise = elementwise(
    "atan",
    "Returns the inverse tangent.",
    np.arctan,
    corrected("atan", lower_by_chlo("atan")),
    derivatives=(_slope_of_atan,),
    kinds="fc",
    excluded=(CUT_OUTSIDE_I,),
    example=("atan(np.array([0.0, np.inf])).round(3)", "array([0.   , 1.571])"),
)

sin_p = sin.primitive
cos_p = cos.primitive
tan_p = tan.primitive
asin_p = asin.primitive
acos_p = acos.primitive
atan_p = atan.primitive
