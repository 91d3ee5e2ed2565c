"""Arithmetic: elementwise ops that combine numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import Excluded, Interval, Unequal, Zero, get_aval
from lawful.ops._elementwise.arithmetic.evaluation import (
    lower_abs,
    lower_by,
    lower_division,
    lower_extremum,
    lower_round,
    lower_rounding,
    lower_sign,
    lower_sqrt,
    lower_square,
    numpy_div,
    numpy_rsqrt,
    numpy_sign,
    real_dtype,
)
from lawful.ops._elementwise.arithmetic.integer_power import lower_power
from lawful.ops._elementwise.branch_cuts import CUT_BELOW_ZERO
from lawful.ops._elementwise.complex_lowering import by_parts, corrected
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise

__all__ = [
    "abs",
    "abs_p",
    "add",
    "add_p",
    "atan2",
    "atan2_p",
    "cbrt",
    "cbrt_p",
    "ceil",
    "ceil_p",
    "div",
    "div_p",
    "floor",
    "floor_p",
    "max",
    "max_p",
    "min",
    "min_p",
    "mul",
    "mul_p",
    "neg",
    "neg_p",
    "pow",
    "pow_p",
    "rem",
    "rem_p",
    "round_nearest_even",
    "round_nearest_even_p",
    "rsqrt",
    "rsqrt_p",
    "sign",
    "sign_p",
    "sqrt",
    "sqrt_p",
    "square",
    "square_p",
    "sub",
    "sub_p",
]

_NONZERO = Interval(0.5, 2.0)
_POSITIVE = Interval(0.3, 2.0)

_IS_WHOLE = Excluded(lambda x: x == np.floor(x), "a jump at each integer", order=0)
_IS_HALF = Excluded(lambda x: x - np.floor(x) == 0.5, "a jump halfway between integers", order=0)
_IS_TIE = Excluded(lambda x, y: x == y, "a kink where both are equal")
# On a branch cut the sign of the zero part selects the side.
_POWER_OF_CUT = Excluded(
    lambda x, y: np.iscomplexobj(x) & (np.imag(x) == 0) & (np.real(x) < 0),
    "a jump across the branch cut of the base",
    order=0,
)
_POWER_OF_INFINITY = Unequal(
    "xla",
    lambda x, y: np.iscomplexobj(x) & ~(np.isfinite(x) & np.isfinite(y)),
    "the complex logarithm of an infinite base is multiplied with zero parts of the exponent",
)
_INFINITE_SLOPE = Excluded(0.0, "the slope is infinite: a branch point")


def _abs_derivative(t: Any, ans: Any, x: Any) -> Any:
    if get_aval(x).dtype.kind == "c":
        return ops.real(mul(t, ops.conj(sign(x))))
    return ops.where(ops.ge(x, 0), t, neg(t))


def _sign_derivative(t: Any, ans: Any, x: Any) -> Any:
    aval = get_aval(x)
    if aval.dtype.kind != "c":
        return Zero(aval.to_tangent_aval())
    # A complex sign moves along the unit circle, by the part of the tangent that is across it; at 0 it does not move.
    at_zero = ops.eq(x, 0)
    rotation = div(ops.imag(mul(ops.conj(ans), t)), abs(ops.where(at_zero, 1, x)))
    return ops.where(at_zero, 0, ops.complex(neg(mul(ops.imag(ans), rotation)), mul(ops.real(ans), rotation)))


def _cbrt_derivative(t: Any, ans: Any, x: Any) -> Any:
    # Not a quotient by a square, whose derivatives are NaN at 0.
    return mul(t, mul(ops.integer_pow(ans, -2), 1 / 3))


def _share_of_extremum(t: Any, ans: Any, x: Any, y: Any) -> Any:
    """Returns the tangent where ``x`` is the extremum, and half of it where both are."""
    aval = get_aval(t)
    if aval.dtype.kind == "c":  # a product with 1 makes NaN of a zero part beside an infinite one
        return ops.where(ops.eq(x, ans), ops.where(ops.eq(y, ans), mul(t, 0.5), t), 0)
    half, one = (0.5, 1.0) if aval.weak_type else (aval.dtype.type(0.5), aval.dtype.type(1.0))
    # A product with a factor has one step backwards; a choice between tangents would have one for each.
    return ops.where(ops.eq(x, ans), mul(t, ops.where(ops.eq(y, ans), half, one)), 0)


def _pow_by_base(t: Any, ans: Any, x: Any, y: Any) -> Any:
    if get_aval(x).dtype.kind != "c":
        return mul(t, ops.pow_derivative_p.bind(x, y, by_base=1, by_exponent=0))
    # At exponent 0 the power is constant, whatever the base; 0 ** -1 must not meet the product.
    constant_at_zero = ops.bitwise_and(ops.eq(x, 0.0), ops.eq(y, 0.0))
    return mul(t, mul(y, pow(x, ops.where(constant_at_zero, 1.0, sub(y, 1.0)))))


def _pow_by_exponent(t: Any, ans: Any, x: Any, y: Any) -> Any:
    if get_aval(x).dtype.kind != "c":
        return mul(t, ops.pow_derivative_p.bind(x, y, by_base=0, by_exponent=1))
    # At base 0 the power is 0 for every positive exponent; log(0) must not meet the product.
    return mul(t, mul(ops.log(ops.where(ops.eq(x, 0.0), 1.0, x)), ans))


def _quotient_towards_zero(x: Any, y: Any) -> Any:
    quotient = div(x, y)
    return mul(sign(quotient), floor(abs(quotient)))


# Derivatives of Python's operators are operators, so that those of weak values are weak.
add: Elementwise = elementwise(
    "add",
    "Returns ``x + y`` elementwise, promoted and broadcast as by ``numpy.add``.",
    np.add,
    "add",
    arity=2,
    derivatives=(lambda t, ans, x, y: t, lambda t, ans, x, y: t),
    linear=((0, 1),),
    kinds="fiuc",
    commutes=True,
    associates=True,
    unit=0.0,
    example=("add(np.array([1, 2]), 0.5)", "array([1.5, 2.5])"),
)
sub: Elementwise = elementwise(
    "sub",
    "Returns ``x - y`` elementwise, promoted and broadcast as by ``numpy.subtract``.",
    np.subtract,
    "subtract",
    arity=2,
    derivatives=(lambda t, ans, x, y: t, lambda t, ans, x, y: neg.operator(t)),
    linear=((0, 1),),
    kinds="fiuc",
    unit=0.0,
    example=("sub(np.array([3, 2]), 1)", "array([2, 1])"),
)
mul: Elementwise = elementwise(
    "mul",
    "Returns ``x * y`` elementwise, promoted and broadcast as by ``numpy.multiply``.",
    np.multiply,
    "multiply",
    arity=2,
    derivatives=(lambda t, ans, x, y: mul.operator(t, y), lambda t, ans, x, y: mul.operator(x, t)),
    linear=((0,), (1,)),
    kinds="fiuc",
    commutes=True,
    associates=True,
    unit=1.0,
    example=("mul(np.array([1, 2]), 2.5)", "array([2.5, 5. ])"),
)
div: Elementwise = elementwise(
    "div",
    "Returns ``x / y`` elementwise; integers are divided towards zero, as by ``jax.lax.div``.",
    numpy_div,
    by_parts("div", lower_division("divide")),
    arity=2,
    promote_as=np.subtract,  # which refuses booleans too
    of_inexact=np.true_divide,
    derivatives=(
        lambda t, ans, x, y: div.operator(t, y),
        lambda t, ans, x, y: neg.operator(div.operator(mul.operator(t, ans), y)),
    ),
    linear=((0,),),
    kinds="fiuc",
    unit=1.0,
    domain=(Interval(), _NONZERO),
    example=("div(-7, 2), div(-7.0, 2.0)", "(np.int64(-3), np.float64(-3.5))"),
)
rem: Elementwise = elementwise(
    "rem",
    "Returns the remainder of ``x / y`` with the sign of ``x``, as ``numpy.fmod`` and ``jax.lax.rem``.",
    np.fmod,
    lower_division("remainder"),
    arity=2,
    derivatives=(lambda t, ans, x, y: t, lambda t, ans, x, y: neg(mul(t, _quotient_towards_zero(x, y)))),
    kinds="fiu",
    domain=(Interval(0.1, 0.4), Interval(0.5, 0.9)),
    excluded=(Excluded(lambda x, y: np.fmod(x, y) == 0, "a jump at each multiple of y", order=0),),
    example=("rem(np.array([-7, 7]), 3)", "array([-1,  1])"),
)
max: Elementwise = elementwise(
    "max",
    "Returns the larger of ``x`` and ``y`` elementwise, as ``numpy.maximum``; a tie shares its derivative equally.",
    np.maximum,
    lower_extremum("maximum", "GE"),
    arity=2,
    derivatives=(_share_of_extremum, lambda t, ans, x, y: _share_of_extremum(t, ans, y, x)),
    kinds="fiu",
    commutes=True,
    associates=True,
    excluded=(_IS_TIE,),
    example=("max(np.array([1, 5]), 3)", "array([3, 5])"),
)
min: Elementwise = elementwise(
    "min",
    "Returns the smaller of ``x`` and ``y`` elementwise, as ``numpy.minimum``; a tie shares its derivative equally.",
    np.minimum,
    lower_extremum("minimum", "LE"),
    arity=2,
    derivatives=(_share_of_extremum, lambda t, ans, x, y: _share_of_extremum(t, ans, y, x)),
    kinds="fiu",
    commutes=True,
    associates=True,
    excluded=(_IS_TIE,),
    example=("min(np.array([1, 5]), 3)", "array([1, 3])"),
)
pow: Elementwise = elementwise(
    "pow",
    "Returns ``x ** y`` elementwise, promoted and broadcast as by ``numpy.power``.",
    np.power,
    corrected("pow", lower_power),
    arity=2,
    derivatives=(_pow_by_base, _pow_by_exponent),
    kinds="fc",
    excluded=(_POWER_OF_CUT,),
    unequal=(_POWER_OF_INFINITY,),
    domain=(_POSITIVE, Interval()),
    example=("pow(np.array([4.0, 9.0]), 0.5)", "array([2., 3.])"),
)
atan2: Elementwise = elementwise(
    "atan2",
    "Returns the angle of the point ``(y, x)``, given in this order, as ``numpy.arctan2``.",
    np.arctan2,
    "atan2",
    arity=2,
    derivatives=(
        lambda t, ans, y, x: mul(t, ops.inversion_p.bind(x, y)),
        lambda t, ans, y, x: neg(mul(t, ops.inversion_p.bind(y, x))),
    ),
    excluded=(
        Excluded(lambda y, x: (y == 0) & (x < 0), "a jump across the branch cut", order=0),
        Excluded(lambda y, x: (y == 0) & (x == 0), "the origin has no angle", order=0),
    ),
    domain=(Interval(0.2, 2.0), Interval(0.2, 2.0)),
    example=("atan2(np.array([1.0, 0.0]), -1.0).round(3)", "array([2.356, 3.142])"),
)
neg: Elementwise = elementwise(
    "neg",
    "Returns ``-x`` elementwise.",
    np.negative,
    "negate",
    derivatives=(lambda t, ans, x: neg.operator(t),),
    linear=((0,),),
    kinds="fiuc",
    example=("neg(np.array([1, -2]))", "array([-1,  2])"),
)
abs: Elementwise = elementwise(
    "abs",
    "Returns the absolute value elementwise; real for complex ``x``.",
    np.abs,
    corrected("abs", lower_abs),
    result=real_dtype,
    derivatives=(_abs_derivative,),
    kinds="fiuc",
    domain=(Interval(excluded=(Excluded(0.0, "a kink"),)),),
    example=("abs(-2), abs(3 + 4j)", "(np.int64(2), np.float64(5.0))"),
)
sign: Elementwise = elementwise(
    "sign",
    "Returns -1, 0 or 1 with the sign of ``x``; of a complex ``x``, the number of length 1 in its direction.",
    numpy_sign,
    by_parts("sign", lower_sign),
    promote_as=np.sign,
    derivatives=(_sign_derivative,),
    kinds="fiuc",
    domain=(Interval(excluded=(Excluded(0.0, "a jump", order=0),)),),
    example=("sign(np.array([-2.0, 0.0, 5.0]))", "array([-1.,  0.,  1.])"),
)
floor: Elementwise = elementwise(
    "floor",
    "Returns the largest integer not above ``x``.",
    np.floor,
    lower_rounding("floor"),
    kinds="fiub",
    domain=(Interval(0.1, 0.9),),
    excluded=(_IS_WHOLE,),
    example=("floor(np.array([1.5, -1.5]))", "array([ 1., -2.])"),
)
ceil: Elementwise = elementwise(
    "ceil",
    "Returns the smallest integer not below ``x``.",
    np.ceil,
    lower_rounding("ceil"),
    kinds="fiub",
    domain=(Interval(0.1, 0.9),),
    excluded=(_IS_WHOLE,),
    example=("ceil(np.array([1.5, -1.5]))", "array([ 2., -1.])"),
)
round_nearest_even: Elementwise = elementwise(
    "round_nearest_even",
    "Returns the integer nearest to ``x``, the even one of two, as ``numpy.rint``.",
    np.rint,
    lower_round,
    domain=(Interval(0.6, 1.4),),
    excluded=(_IS_HALF,),
    example=("round_nearest_even(np.array([0.5, 1.5, 2.6]))", "array([0., 2., 3.])"),
)
square: Elementwise = elementwise(
    "square",
    "Returns ``x * x``.",
    np.square,
    lower_square,
    derivatives=(lambda t, ans, x: mul(t, mul(x, 2)),),
    kinds="fiuc",
    example=("square(np.array([2, -3]))", "array([4, 9])"),
)
sqrt: Elementwise = elementwise(
    "sqrt",
    "Returns the square root elementwise.",
    np.sqrt,
    corrected("sqrt", lower_sqrt),
    derivatives=(lambda t, ans, x: mul(t, div(0.5, ans)),),
    kinds="fc",
    excluded=(CUT_BELOW_ZERO,),
    domain=(Interval(0.3, 2.0, (_INFINITE_SLOPE,)),),
    example=("sqrt(np.array([4.0, 9.0]))", "array([2., 3.])"),
)
rsqrt: Elementwise = elementwise(
    "rsqrt",
    "Returns one over the square root elementwise.",
    numpy_rsqrt,
    by_parts("rsqrt", lower_by("rsqrt")),
    promote_as=np.sqrt,
    derivatives=(lambda t, ans, x: mul(t, mul(div(ans, x), -0.5)),),
    kinds="fc",
    excluded=(CUT_BELOW_ZERO,),
    domain=(_POSITIVE,),
    example=("rsqrt(np.array([4.0, 0.25]))", "array([0.5, 2. ])"),
)
cbrt: Elementwise = elementwise(
    "cbrt",
    "Returns the cube root elementwise.",
    np.cbrt,
    "cbrt",
    derivatives=(_cbrt_derivative,),
    domain=(Interval(0.3, 2.0, (_INFINITE_SLOPE,)),),
    example=("cbrt(np.array([-8.0, 27.0])).round(6)", "array([-2.,  3.])"),
)

add_p, sub_p, mul_p, div_p, rem_p = add.primitive, sub.primitive, mul.primitive, div.primitive, rem.primitive
max_p, min_p, pow_p, atan2_p = max.primitive, min.primitive, pow.primitive, atan2.primitive
neg_p, abs_p, sign_p, square_p = neg.primitive, abs.primitive, sign.primitive, square.primitive
floor_p, ceil_p, round_nearest_even_p = floor.primitive, ceil.primitive, round_nearest_even.primitive
sqrt_p, rsqrt_p, cbrt_p = sqrt.primitive, rsqrt.primitive, cbrt.primitive

sub_p.def_expand(lambda x, y: add_p.bind(x, neg_p.bind(y)))
square_p.def_expand(lambda x: mul_p.bind(x, x))
