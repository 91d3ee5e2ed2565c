"""The elementwise functions: a table from NumPy's ufuncs to ops, or to formulas in ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import get_aval, is_inexact
from lawful.numpy._ufuncs.ufunc import Ufunc

# fmt: off
__all__ = [
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "negative",
    "positive", "absolute", "abs", "fabs", "conjugate", "conj", "sign", "square", "sqrt", "cbrt", "reciprocal",
    "maximum", "minimum", "power", "pow", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp",
    "sin", "cos", "tan", "arcsin", "asin", "arccos", "acos", "arctan", "atan", "arctan2", "atan2", "sinh", "cosh",
    "tanh", "arcsinh", "asinh", "arccosh", "acosh", "arctanh", "atanh", "hypot", "deg2rad", "rad2deg", "radians",
    "degrees", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
    "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_invert",
    "invert", "left_shift", "bitwise_left_shift", "right_shift", "bitwise_right_shift", "isfinite", "isnan",
    "isinf", "signbit", "copysign", "gcd", "lcm", "floor", "ceil", "rint", "trunc", "divmod", "fmax", "fmin",
    "float_power", "logaddexp2",
]
# fmt: on


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
divmod = Ufunc(
    numpy.divmod,
    lambda x, y: (ops.floor_divide(x, y), ops.remainder(x, y)),
    "Returns ``(x1 // x2, x1 % x2)`` elementwise.",
)
negative = Ufunc(numpy.negative, ops.neg)
positive = Ufunc(numpy.positive, lambda x: x, "Returns ``+x``: numbers as they are.")
absolute = abs = Ufunc(numpy.absolute, ops.abs)
fabs = Ufunc(numpy.fabs, ops.abs, "Returns the absolute value elementwise, of integers as a float.")
conjugate = conj = Ufunc(numpy.conjugate, ops.conj, "Returns the complex conjugate elementwise.")
sign = Ufunc(numpy.sign, ops.sign, except_of="c")  # NumPy's has a wrong direction where the length overflows
square = Ufunc(numpy.square, ops.square)
sqrt = Ufunc(numpy.sqrt, ops.sqrt)
cbrt = Ufunc(numpy.cbrt, ops.cbrt)
reciprocal = Ufunc(
    numpy.reciprocal,
    lambda x: ops.div(1, x),
    "Returns ``1 / x`` elementwise: of integers rounded towards zero, of the integer 0 it is 0.",
    except_of="iuc",  # NumPy's result for 0 depends on the processor; of a complex 0 it is NaN, unlike the quotient
)
maximum = Ufunc(numpy.maximum, ops.max)
minimum = Ufunc(numpy.minimum, ops.min)


def _unless_nan(extremum: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        return ops.where(ops.ne(y, y), x, ops.where(ops.ne(x, x), y, extremum(x, y)))

    return function


fmax = Ufunc(numpy.fmax, _unless_nan(ops.max), "Returns the larger number elementwise, NaN only where both are.")
fmin = Ufunc(numpy.fmin, _unless_nan(ops.min), "Returns the smaller number elementwise, NaN only where both are.")
float_power = Ufunc(
    numpy.float_power, ops.pow, "Returns ``x1 ** x2`` elementwise, of float64 or complex128 if not more precise."
)


class _Power(Ufunc):
    def apply_ops(self, args: Sequence[Any]) -> Any:
        if type(args[1]) is int:
            is_refused = args[1] < 0 and get_aval(args[0]).dtype.kind in "biu"
            if is_refused or (not ops.is_eager(args[0]) and get_aval(args[0]).dtype.kind != "b"):
                return ops.integer_pow(*args)
        return super().apply_ops(args)


power = _Power(
    numpy.power,
    ops.pow,
    """Returns ``x1 ** x2`` elementwise, promoted and broadcast as by ``numpy.power``.

    Args:
      x1: the base.
      x2: the exponent. A Python integer is a static one: the power is computed by multiplications, and so is its
        derivative.

    Raises:
      ArgumentValueError: integers are raised to a negative Python integer, as in NumPy.
      IntegerOverflowError: integers are raised to a Python integer that their dtype cannot hold, as in NumPy.

    >>> import numpy as np
    >>> power(np.array([1.0, 3.0]), 2)
    array([1., 9.])

    Source: ``numpy.power``.
    """,
)
pow = power

# Exponentials and logarithms


def _log_of_base(base: int, doc: str, numpy_function: numpy.ufunc) -> Ufunc:
    def function(x: Any) -> Any:
        logarithm = ops.log(x)
        if get_aval(x).dtype.kind != "c":
            return ops.div(logarithm, math.log(base))
        # By parts: complex division of an infinite number is NaN.
        return ops.complex(*[ops.div(part, math.log(base)) for part in (ops.real(logarithm), ops.imag(logarithm))])

    return Ufunc(numpy_function, function, doc)


def _log_of_base_two_sum(x: Any, y: Any) -> Any:
    """Returns the logarithm of the sum of two powers of two, with the larger one factored out."""
    # Not by max and abs, whose second derivatives at equal arguments are not those of the smooth sum.
    is_first = ops.gt(x, y)
    high, low = ops.where(is_first, x, y), ops.where(is_first, y, x)
    at_infinity = ops.bitwise_and(ops.eq(x, y), _isinf(x))
    # The difference of equal infinities is NaN. Each derivative is 1 at inf and NaN at -inf, as in JAX.
    difference = ops.sub(*[ops.where(at_infinity, 0, part) for part in (low, high)])
    smooth = ops.add(high, ops.div(ops.log1p(ops.exp2(difference)), math.log(2)))
    below = ops.bitwise_and(at_infinity, ops.lt(x, 0))
    total = ops.add(ops.where(at_infinity, x, 0), ops.where(at_infinity, y, 0))
    undefined = ops.log(ops.exp(ops.where(below, total, 0)))
    return ops.where(below, undefined, ops.where(at_infinity, total, smooth))


class _LogOfSum(Ufunc):
    """A ufunc that takes complex numbers too, which NumPy's refuses."""

    def __init__(self, numpy_function: numpy.ufunc, op: Any, doc: str, base: float) -> None:
        super().__init__(numpy_function, op, doc, except_of="c")
        self._of_complex = ops.Composite(lambda x, y: _log_of_complex_sum(self.__name__, x, y, base), 2)

    def apply_ops(self, args: Sequence[Any]) -> Any:
        return self._of_complex(*args) if self.is_exception(args) else super().apply_ops(args)


def _log_of_complex_sum(name: str, x: Any, y: Any, base: float) -> Any:
    """Returns the logarithm of the sum of two complex powers, with an imaginary part of at most half a period."""
    x, y = ops.promote(name, numpy.add, (x, y))
    is_first = ops.gt(ops.real(x), ops.real(y))
    high, low = ops.where(is_first, x, y), ops.where(is_first, y, x)
    scale = math.log(base)
    # The difference of equal infinities is NaN, and so would be the product with a complex number.
    ends = ops.bitwise_and(ops.eq(ops.real(low), ops.real(high)), _isinf(ops.real(high)))
    real = ops.sub(*[ops.where(ends, 0, ops.real(x)) for x in (low, high)])
    imag = ops.sub(ops.imag(low), ops.imag(high))
    rest = ops.log1p(ops.exp(ops.complex(ops.mul(real, scale), ops.mul(imag, scale))))
    real = ops.add(ops.real(high), ops.div(ops.real(rest), scale))
    angle, half = ops.add(ops.imag(high), ops.div(ops.imag(rest), scale)), math.pi / scale
    turns = ops.floor(ops.div(ops.add(angle, half), 2 * half))
    return ops.complex(real, ops.sub(angle, ops.mul(turns, 2 * half)))


exp = Ufunc(numpy.exp, ops.exp)
exp2 = Ufunc(numpy.exp2, ops.exp2)
expm1 = Ufunc(numpy.expm1, ops.expm1, except_of="c")
log = Ufunc(numpy.log, ops.log)
log1p = Ufunc(numpy.log1p, ops.log1p, except_of="c")
log2 = _log_of_base(2, "Returns the logarithm to base 2 elementwise.", numpy.log2)
log10 = _log_of_base(10, "Returns the logarithm to base 10 elementwise.", numpy.log10)
logaddexp = _LogOfSum(
    numpy.logaddexp, ops.logaddexp, "Returns ``log(exp(x1) + exp(x2))`` elementwise, without overflow.", math.e
)
logaddexp2 = _LogOfSum(
    numpy.logaddexp2,
    _log_of_base_two_sum,
    "Returns ``log2(2**x1 + 2**x2)`` elementwise, without overflow.",
    2,
)

# Trigonometric and hyperbolic functions

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
hypot = Ufunc(numpy.hypot, ops.hypot, "Returns ``sqrt(x1**2 + x2**2)`` elementwise, without overflow.")
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


def _right_shift(x: Any, y: Any) -> Any:
    return (ops.shift_right_logical if get_aval(x).dtype.kind == "u" else ops.shift_right_arithmetic)(x, y)


bitwise_left_shift = left_shift = Ufunc(numpy.left_shift, ops.shift_left)
bitwise_right_shift = right_shift = Ufunc(
    numpy.right_shift, _right_shift, "Returns ``x1 >> x2`` of integers: filled by the sign of signed ones."
)

# Tests of floats


def _isnan(x: Any) -> Any:
    return ops.ne(x, x)


def _isinf(x: Any) -> Any:
    dtype = get_aval(x).dtype
    if not is_inexact(dtype):
        return ops.full_like(x, False, bool)
    if dtype.kind == "c":
        return ops.bitwise_or(_isinf(ops.real(x)), _isinf(ops.imag(x)))
    return ops.bitwise_not(ops.bitwise_or(ops.is_finite(x), _isnan(x)))


isfinite = Ufunc(numpy.isfinite, ops.is_finite)
isnan = Ufunc(numpy.isnan, _isnan, "Returns whether ``x`` is NaN elementwise.")
isinf = Ufunc(numpy.isinf, _isinf, "Returns whether ``x`` is infinite elementwise.")

# Signs of floats

signbit = Ufunc(
    numpy.signbit, ops.signbit, "Returns whether the sign of ``x`` is minus elementwise, also of zero and NaN."
)
copysign = Ufunc(
    numpy.copysign, ops.copysign, "Returns the absolute value of ``x1`` with the sign of ``x2`` elementwise."
)
# Divisors of integers

gcd = Ufunc(numpy.gcd, ops.gcd)


def _lcm(x: Any, y: Any) -> Any:
    divisor = ops.gcd(x, y)
    is_zero = ops.eq(divisor, 0)
    return ops.where(is_zero, divisor, ops.mul(ops.div(ops.abs(x), ops.where(is_zero, 1, divisor)), ops.abs(y)))


lcm = Ufunc(numpy.lcm, _lcm, "Returns the least common multiple elementwise, not negative; that of 0 is 0.")

# Rounding


def _trunc(x: Any) -> Any:
    return x if not is_inexact(get_aval(x).dtype) else ops.where(ops.lt(x, 0), ops.ceil(x), ops.floor(x))


floor = Ufunc(numpy.floor, ops.floor)
ceil = Ufunc(numpy.ceil, ops.ceil)
rint = Ufunc(numpy.rint, ops.round_nearest_even)
trunc = Ufunc(numpy.trunc, _trunc, "Returns the integer nearest to ``x`` that is not further from zero.")
