"""Formulas for functions of complex numbers at branch cuts, infinities and NaN: the rules of the C standard, annex G.

The Python array API standard adopts them. ``x + iy`` is the argument, ``re + im i`` StableHLO's result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful.core import get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import abs, add, div, max, mul, neg, sign, sqrt, sub
from lawful.ops._elementwise.arithmetic.signs import copysign, signbit
from lawful.ops._elementwise.comparison import bitwise_and, bitwise_not, bitwise_or, eq, ge, gt, is_finite, lt, ne
from lawful.ops._elementwise.complex_parts import complex, imag, real
from lawful.ops._elementwise.select import where
from lawful.ops._elementwise.transcendental.exponential import exp, log
from lawful.ops._elementwise.transcendental.hyperbolic import cosh, sinh
from lawful.ops._elementwise.transcendental.log_length import log_length, near_circle
from lawful.ops._elementwise.transcendental.trigonometric import cos, sin

__all__ = ["corrections", "formulas"]

Parts = tuple[Any, Any]


def _is_infinite(x: Any) -> Any:
    return bitwise_or(eq(x, math.inf), eq(x, -math.inf))


def _is_nonfinite(x: Any) -> Any:
    return bitwise_not(is_finite(x))


def _zero(x: Any) -> Any:
    """Returns a zero with the sign of a number."""
    return copysign(np.zeros((), get_aval(x).dtype), x)


# Powers and logarithms


def _exp(re: Any, im: Any, x: Any, y: Any) -> Parts:
    return _of_unknown_angle(re, im, x, y, 0.0)


def _expm1(re: Any, im: Any, x: Any, y: Any) -> Parts:
    # Where the exponential overflows, its product with a cosine or sine may not.
    is_large = gt(x, math.log(np.finfo(get_aval(x).dtype).max) - 1)
    half = exp(mul(x, 0.5))
    re, im = (where(is_large, mul(mul(half, f(y)), half), part) for f, part in ((cos, re), (sin, im)))
    re, im = _of_unknown_angle(re, im, x, y, -1.0)
    return where(bitwise_and(eq(x, 0), eq(y, 0)), x, re), im


def _of_unknown_angle(re: Any, im: Any, x: Any, y: Any, limit: float) -> Parts:
    """Corrects the result where the angle ``y`` is not finite or 0: ``limit`` is the real part at ``x = -∞``."""
    unknown = _is_nonfinite(y)
    large, small = bitwise_and(unknown, eq(x, math.inf)), bitwise_and(unknown, eq(x, -math.inf))
    im = where(large, math.nan, where(bitwise_or(small, eq(y, 0)), _zero(y), im))
    return where(large, math.inf, where(small, limit, re)), im


def _log(re: Any, im: Any, x: Any, y: Any) -> Parts:
    return where(bitwise_or(_is_infinite(x), _is_infinite(y)), math.inf, re), im


def _log1p(re: Any, im: Any, x: Any, y: Any) -> Parts:
    # StableHLO squares the distance from -1, which may underflow. Where this is small, the sum with 1 is exact.
    near = bitwise_and(lt(x, -0.5), lt(abs(y), 0.5))
    re = where(near, real(log(complex(add(x, 1.0), y))), re)
    return _log(where(near_circle(x, y), log_length(x, y), re), im, x, y)


def _sqrt(re: Any, im: Any, x: Any, y: Any) -> Parts:
    infinite = _is_infinite(y)
    im = where(infinite, y, copysign(where(eq(x, -math.inf), math.inf, im), y))
    return where(bitwise_or(infinite, eq(x, math.inf)), math.inf, re), im


# Hyperbolic functions; trigonometric ones are these with swapped parts: sin(x + iy) is sinh(y + ix) swapped


def _sinh(x: Any, y: Any) -> Parts:
    sinh_x, cosh_x = _sinh_and_cosh(x)
    re, im = _product(sinh_x, cos(y)), _product(cosh_x, sin(y))
    nonfinite = _is_nonfinite(y)
    re = where(bitwise_and(_is_infinite(x), nonfinite), math.inf, where(bitwise_and(eq(x, 0), nonfinite), x, re))
    return re, where(eq(y, 0), y, im)


def _cosh(x: Any, y: Any) -> Parts:
    sinh_x, cosh_x = _sinh_and_cosh(x)
    re, im = _product(cosh_x, cos(y)), _product(sinh_x, sin(y))
    nonfinite = _is_nonfinite(y)
    re = where(bitwise_and(_is_infinite(x), nonfinite), math.inf, re)
    is_real = bitwise_or(eq(y, 0), bitwise_and(eq(x, 0), nonfinite))
    return re, where(is_real, mul(_zero(x), copysign(get_aval(y).dtype.type(1), y)), im)


def _sinh_and_cosh(x: Any) -> tuple[Parts, Parts]:
    """Returns each as two factors: it may overflow where its product with a sine or cosine does not."""
    size = abs(x)
    large = gt(size, 40.0)
    root = exp(mul(size, 0.5))
    rest, half = where(large, root, 1.0), mul(root, 0.5)
    return (where(large, copysign(half, x), sinh(x)), rest), (where(large, half, cosh(x)), rest)


def _product(factors: Parts, x: Any) -> Any:
    return mul(mul(factors[0], x), factors[1])


def _tanh(re: Any, im: Any, x: Any, y: Any) -> Parts:
    is_real = bitwise_or(eq(y, 0), bitwise_and(_is_infinite(x), _is_nonfinite(y)))
    return where(eq(x, 0), x, re), where(is_real, _zero(y), im)


# Inverses: the parts have the signs of the argument's parts, except for the inverse cosines


def _asinh(re: Any, im: Any, x: Any, y: Any) -> Parts:
    unknown = _is_unknown(x, y)
    re, im = _next_to_branch_point(where(unknown, math.nan, re), y, x), where(unknown, math.nan, im)
    return copysign(re, x), where(eq(y, 0), y, copysign(im, y))


def _is_unknown(x: Any, y: Any) -> Any:
    """Returns where a part is NaN and none is infinite."""
    has_nan = bitwise_or(ne(x, x), ne(y, y))
    return bitwise_and(has_nan, bitwise_not(bitwise_or(_is_infinite(x), _is_infinite(y))))


def _next_to_branch_point(size: Any, along: Any, across: Any) -> Any:
    """Returns the size of a part next to a branch point, where StableHLO's square of the distance may underflow.

    Args:
      size: StableHLO's part, of which the sign is unused.
      along: the part of the argument that is ±1 at the branch points.
      across: its other part.
    """
    distance = abs(across)
    is_near = bitwise_and(eq(abs(along), 1), lt(distance, np.finfo(get_aval(distance).dtype).eps ** 2))
    return where(is_near, sqrt(distance), size)


def _acos(re: Any, im: Any, x: Any, y: Any) -> Parts:
    unknown = _is_unknown(x, y)
    re = where(eq(x, 0), math.pi / 2, where(unknown, math.nan, re))
    im = _next_to_branch_point(where(unknown, math.nan, im), x, y)
    return re, copysign(im, neg(y))


def _acosh(re: Any, im: Any, x: Any, y: Any) -> Parts:
    """Swaps the parts of the inverse cosine: ``acosh(z) = ±i acos(z)``."""
    re, im = _acos(re, im, x, y)
    return abs(im), copysign(re, y)


def _atanh(re: Any, im: Any, x: Any, y: Any) -> Parts:
    re = _next_to_pole(re, x, y)
    has_nan = bitwise_or(ne(x, x), ne(y, y))
    is_limit = bitwise_or(eq(x, 0), bitwise_or(_is_infinite(x), _is_infinite(y)))
    angle = copysign(get_aval(y).dtype.type(math.pi / 2), y)
    re_of_nan, im_of_nan = where(is_limit, _zero(x), math.nan), where(_is_infinite(y), angle, math.nan)
    return where(has_nan, re_of_nan, copysign(re, x)), where(has_nan, im_of_nan, copysign(im, y))


def _next_to_pole(re: Any, x: Any, y: Any) -> Any:
    """Returns the real part near the poles ±1, where the square of ``y`` may underflow."""
    height = abs(y)
    is_near = bitwise_and(eq(abs(x), 1), lt(height, 1.0))
    safe = where(is_near, height, 1.0)
    return where(is_near, mul(0.5, log(div(sqrt(add(mul(safe, safe), 4.0)), safe))), re)


# Functions of complex numbers


def _correction(by_parts: Callable[[Any, Any, Any, Any], Parts], *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """Returns a correction of StableHLO's result; ``swapped`` for a trigonometric function by its hyperbolic one."""

    def function(out: Any, z: Any) -> Any:
        parts = real(out), imag(out), real(z), imag(z)
        if not swapped:
            return complex(*by_parts(*parts))
        im, re = by_parts(parts[1], parts[0], parts[3], parts[2])
        return complex(re, im)

    return function


def _length(out: Any, z: Any) -> Any:
    return where(bitwise_or(_is_infinite(real(z)), _is_infinite(imag(z))), math.inf, out)


def _sin(z: Any) -> Any:
    im, re = _sinh(imag(z), real(z))
    return complex(re, im)


# Formulas that replace StableHLO's functions


def _quotient(z: Any, w: Any) -> Any:
    """Divides by the larger part of ``w`` first, as NumPy does: a square could overflow."""
    a, b, c, d = real(z), imag(z), real(w), imag(w)
    is_wide = ge(abs(c), abs(d))
    first, second = where(is_wide, c, d), where(is_wide, d, c)
    one, other = where(is_wide, a, b), where(is_wide, b, a)
    ratio = div(second, first)
    size = add(first, mul(second, ratio))
    re = div(add(one, mul(other, ratio)), size)
    across = sub(other, mul(one, ratio))
    im = div(where(is_wide, across, neg(across)), size)
    by_zero, zero = eq(w, 0), abs(c)
    return complex(where(by_zero, div(a, zero), re), where(by_zero, div(b, zero), im))


def _rsqrt(z: Any) -> Any:
    """Returns one over the square root, 0 in every direction of infinity."""
    out = div(1.0, sqrt(z))
    is_infinite = bitwise_or(_is_infinite(real(z)), _is_infinite(imag(z)))
    zero = _zero(neg(imag(z)))
    return complex(where(is_infinite, 0.0, real(out)), where(is_infinite, zero, imag(out)))


def _pow(out: Any, z: Any, w: Any) -> Any:
    """Corrects powers of zero, which the real part of the exponent decides: the angle of zero is undefined."""
    re, im, is_zero, is_positive = real(out), imag(out), eq(z, 0), gt(real(w), 0)
    re, im = (where(is_zero, where(is_positive, 0.0, mul(part, math.nan)), part) for part in (re, im))
    is_one = bitwise_and(is_zero, eq(w, 0))
    return complex(where(is_one, 1.0, re), where(is_one, 0.0, im))


def _sign(z: Any) -> Any:
    x, y = real(z), imag(z)
    # The length of the largest numbers overflows, so large ones are scaled.
    is_large = gt(max(abs(x), abs(y)), 1.0)
    u, v = (where(is_large, mul(part, 0.25), part) for part in (x, y))
    size = abs(complex(u, v))
    is_zero, is_infinite = eq(size, 0), eq(size, math.inf)
    unknown = bitwise_and(_is_infinite(x), _is_infinite(y))

    def normalized(part: Any) -> Any:
        """Returns a part over the length, or its limit if the length is infinite."""
        limit = where(unknown, math.nan, where(_is_infinite(part), sign(part), 0.0))
        return where(is_zero, 0.0, where(is_infinite, limit, div(part, where(is_zero, 1.0, size))))

    return complex(normalized(u), normalized(v))


def _exp2(z: Any) -> Any:
    return exp(complex(mul(real(z), math.log(2.0)), mul(imag(z), math.log(2.0))))


def _logistic(z: Any) -> Any:
    is_left = signbit(real(z))
    small = exp(where(is_left, z, neg(z)))
    return div(where(is_left, small, 1.0), add(small, 1.0))


#: Branch-cut corrections by name: functions of StableHLO's result and the arguments.
corrections: Final[dict[str, Callable[..., Any]]] = {
    "abs": _length,
    "exp": _correction(_exp),
    "expm1": _correction(_expm1),
    "log": _correction(_log),
    "log1p": _correction(_log1p),
    "sqrt": _correction(_sqrt),
    "tanh": _correction(_tanh),
    "tan": _correction(_tanh, swapped=True),
    "asinh": _correction(_asinh),
    "asin": _correction(_asinh, swapped=True),
    "acos": _correction(_acos),
    "acosh": _correction(_acosh),
    "atanh": _correction(_atanh),
    "atan": _correction(_atanh, swapped=True),
    "pow": _pow,
}
#: Formulas by name: functions of the arguments.
formulas: Final[dict[str, Callable[..., Any]]] = {
    "sinh": lambda z: complex(*_sinh(real(z), imag(z))),
    "cosh": lambda z: complex(*_cosh(real(z), imag(z))),
    "sin": _sin,
    "div": _quotient,
    "rsqrt": _rsqrt,
    "sign": _sign,
    "exp2": _exp2,
    "logistic": _logistic,
    "cos": lambda z: complex(*_cosh(imag(z), neg(real(z)))),
}
