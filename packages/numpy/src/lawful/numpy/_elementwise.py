"""The elementwise functions: a table from NumPy's ufuncs to ops, or to formulas in ops."""

from __future__ import annotations

import math
from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval, is_inexact
from lawful.numpy._ufunc import Ufunc

# Arithmetic

add = Ufunc(numpy.add, ops.add)
subtract = Ufunc(numpy.subtract, ops.sub)
multiply = Ufunc(numpy.multiply, ops.mul)
divide = true_divide = Ufunc(numpy.true_divide, ops.true_divide)
floor_divide = Ufunc(
    numpy.floor_divide, ops.floor_divide, "Returns the largest integer not above ``x1 / x2`` elementwise."
)
remainder = mod = Ufunc(numpy.remainder, ops.remainder, "Returns ``x1 % x2`` elementwise, with the sign of ``x2``.")
fmod = Ufunc(numpy.fmod, ops.rem)
negative = Ufunc(numpy.negative, ops.neg)
positive = Ufunc(numpy.positive, lambda x: x, "Returns ``+x``: numbers as they are.")
absolute = abs = Ufunc(numpy.absolute, ops.abs)
fabs = Ufunc(numpy.fabs, ops.abs, "Returns the absolute value elementwise, of integers as a float.")
conjugate = conj = Ufunc(numpy.conjugate, ops.conj, "Returns the complex conjugate elementwise.")
sign = Ufunc(numpy.sign, ops.sign)
square = Ufunc(numpy.square, ops.square)
sqrt = Ufunc(numpy.sqrt, ops.sqrt)
cbrt = Ufunc(numpy.cbrt, ops.cbrt)
reciprocal = Ufunc(
    numpy.reciprocal, lambda x: ops.div(1, x), "Returns ``1 / x`` elementwise, of integers rounded towards zero."
)
maximum = Ufunc(numpy.maximum, ops.max)
minimum = Ufunc(numpy.minimum, ops.min)
_power = Ufunc(numpy.power, ops.pow)


def power(x1: Any, x2: Any, /) -> Any:
    """Returns ``x1 ** x2`` elementwise, promoted and broadcast as by ``numpy.power``.

    Args:
      x1: the base.
      x2: the exponent. A Python integer is a static one: the power is computed by multiplications, and so is its
        derivative.

    Raises:
      ArgumentValueError: integers are raised to a negative Python integer, as in NumPy.

    >>> power(numpy.array([1.0, 3.0]), 2)
    array([1., 9.])

    Source: ``numpy.power``.
    """
    if type(x2) is int and not ops.is_eager(x1) and get_aval(x1).dtype.kind != "b":
        return ops.integer_pow(x1, x2)
    return _power(x1, x2)


pow = power

# Exponentials and logarithms


def _log_of_base(base: int, doc: str, numpy_function: numpy.ufunc) -> Ufunc:
    return Ufunc(numpy_function, lambda x: ops.div(ops.log(x), math.log(base)), doc)


def _logaddexp(x: Any, y: Any) -> Any:
    largest, difference = ops.max(x, y), ops.sub(x, y)
    # Equal infinities have no difference; twice their exponential is what the same formula gives for 0.
    same = ops.eq(x, y)
    difference = ops.where(same, 0, difference)
    return ops.add(largest, ops.log1p(ops.exp(ops.neg(ops.abs(difference)))))


exp = Ufunc(numpy.exp, ops.exp)
exp2 = Ufunc(numpy.exp2, ops.exp2)
expm1 = Ufunc(numpy.expm1, ops.expm1)
log = Ufunc(numpy.log, ops.log)
log1p = Ufunc(numpy.log1p, ops.log1p)
log2 = _log_of_base(2, "Returns the logarithm to base 2 elementwise.", numpy.log2)
log10 = _log_of_base(10, "Returns the logarithm to base 10 elementwise.", numpy.log10)
logaddexp = Ufunc(numpy.logaddexp, _logaddexp, "Returns ``log(exp(x1) + exp(x2))`` elementwise, without overflow.")

# Trigonometric and hyperbolic functions


def _hypot(x: Any, y: Any) -> Any:
    x, y = ops.abs(x), ops.abs(y)
    largest = ops.max(x, y)
    # Neither a square nor a quotient of numbers divided by the largest overflows.
    scale = ops.where(ops.bitwise_and(ops.gt(largest, 0), ops.is_finite(largest)), largest, 1)
    return ops.mul(scale, ops.sqrt(ops.add(ops.square(ops.div(x, scale)), ops.square(ops.div(y, scale)))))


sin = Ufunc(numpy.sin, ops.sin)
cos = Ufunc(numpy.cos, ops.cos)
tan = Ufunc(numpy.tan, ops.tan)
arcsin = asin = Ufunc(numpy.arcsin, ops.asin)
arccos = acos = Ufunc(numpy.arccos, ops.acos)
arctan = atan = Ufunc(numpy.arctan, ops.atan)
arctan2 = atan2 = Ufunc(numpy.arctan2, ops.atan2)
sinh = Ufunc(numpy.sinh, ops.sinh)
cosh = Ufunc(numpy.cosh, ops.cosh)
tanh = Ufunc(numpy.tanh, ops.tanh)
arcsinh = asinh = Ufunc(numpy.arcsinh, ops.asinh)
arccosh = acosh = Ufunc(numpy.arccosh, ops.acosh)
arctanh = atanh = Ufunc(numpy.arctanh, ops.atanh)
hypot = Ufunc(numpy.hypot, _hypot, "Returns ``sqrt(x1**2 + x2**2)`` elementwise, without overflow.")
deg2rad = Ufunc(numpy.deg2rad, lambda x: ops.mul(x, math.pi / 180), "Returns angles in degrees as radians.")
rad2deg = Ufunc(numpy.rad2deg, lambda x: ops.mul(x, 180 / math.pi), "Returns angles in radians as degrees.")
radians = Ufunc(numpy.radians, lambda x: ops.mul(x, math.pi / 180), "Returns angles in degrees as radians.")
degrees = Ufunc(numpy.degrees, lambda x: ops.mul(x, 180 / math.pi), "Returns angles in radians as degrees.")

# Comparison

equal = Ufunc(numpy.equal, ops.eq)
not_equal = Ufunc(numpy.not_equal, ops.ne)
less = Ufunc(numpy.less, ops.lt)
less_equal = Ufunc(numpy.less_equal, ops.le)
greater = Ufunc(numpy.greater, ops.gt)
greater_equal = Ufunc(numpy.greater_equal, ops.ge)

# Logic and bits


def _truth(x: Any) -> Any:
    return x if get_aval(x).dtype.kind == "b" else ops.ne(x, 0)


logical_and = Ufunc(
    numpy.logical_and,
    lambda x, y: ops.bitwise_and(_truth(x), _truth(y)),
    "Returns whether both are true elementwise: not zero.",
)
logical_or = Ufunc(
    numpy.logical_or,
    lambda x, y: ops.bitwise_or(_truth(x), _truth(y)),
    "Returns whether any of both is true elementwise: not zero.",
)
logical_xor = Ufunc(
    numpy.logical_xor,
    lambda x, y: ops.bitwise_xor(_truth(x), _truth(y)),
    "Returns whether exactly one of both is true elementwise: not zero.",
)
logical_not = Ufunc(
    numpy.logical_not, lambda x: ops.bitwise_not(_truth(x)), "Returns whether ``x`` is false elementwise: zero."
)
bitwise_and = Ufunc(numpy.bitwise_and, ops.bitwise_and)
bitwise_or = Ufunc(numpy.bitwise_or, ops.bitwise_or)
bitwise_xor = Ufunc(numpy.bitwise_xor, ops.bitwise_xor)
bitwise_not = bitwise_invert = invert = Ufunc(numpy.invert, ops.bitwise_not)

# Tests of floats


def _isnan(x: Any) -> Any:
    return ops.ne(x, x)


def _isinf(x: Any) -> Any:
    if not is_inexact(get_aval(x).dtype):
        return ops.full_like(x, False, bool)
    return ops.bitwise_not(ops.bitwise_or(ops.is_finite(x), _isnan(x)))


isfinite = Ufunc(numpy.isfinite, ops.is_finite)
isnan = Ufunc(numpy.isnan, _isnan, "Returns whether ``x`` is NaN elementwise.")
isinf = Ufunc(numpy.isinf, _isinf, "Returns whether ``x`` is infinite elementwise.")

# Rounding


def _trunc(x: Any) -> Any:
    return x if not is_inexact(get_aval(x).dtype) else ops.where(ops.lt(x, 0), ops.ceil(x), ops.floor(x))


floor = Ufunc(numpy.floor, ops.floor)
ceil = Ufunc(numpy.ceil, ops.ceil)
rint = Ufunc(numpy.rint, ops.round_nearest_even)
trunc = Ufunc(numpy.trunc, _trunc, "Returns the integer nearest to ``x`` that is not further from zero.")
