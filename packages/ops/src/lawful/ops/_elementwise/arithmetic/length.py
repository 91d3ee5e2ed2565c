"""The length and the direction of a vector in the plane, without intermediate overflow or underflow.

Their derivatives are expressed by each other without terms that cancel. With ``r`` the length, and with ``c`` and ``s``
the cosines of the angles to both axes: ``dr = c dx + s dy`` and ``dc = s (s dx - c dy) / r``. The derivatives of the
angle are those of the complex logarithm: ``u = c / r`` and ``v = s / r``, with
``du = (v ** 2 - u ** 2) dx - 2 u v dy``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import Excluded, Primitive, of_numpy
from lawful.ops._elementwise.arithmetic.arithmetic import div, mul, neg, square, sub
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.double import lowered
from lawful.ops._support.dtypes import least_normal

__all__ = ["direction_cosine_p", "hypot", "hypot_p", "inversion_p"]


def _is_origin(x: Any, y: Any) -> Any:
    return (x == 0) & (y == 0)


def _hypot(x: Any, y: Any) -> Any:
    x, y = np.abs(x), np.abs(y)
    largest = np.maximum(x, y)
    scale = np.where((largest > 0) & (largest < np.inf), largest, 1.0)
    length = scale * np.sqrt(np.square(x / scale) + np.square(y / scale))
    # The length is infinite if one side is, even if the other is NaN.
    return np.where((x == np.inf) | (y == np.inf), np.inf, length)


def _scaled(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Returns both sides divided by the longer one, and the longer one."""
    largest = np.maximum(np.abs(x), np.abs(y))
    # An infinite side is longer than any finite one.
    x, y = [np.where(largest == np.inf, _infinite_to_one(side), side / largest) for side in (x, y)]
    return x, y, largest


def _direction_cosine(x: Any, y: Any) -> Any:
    x, y, _ = _scaled(x, y)
    return x / np.sqrt(x * x + y * y)


def _inversion(x: Any, y: Any) -> Any:
    x, y, largest = _scaled(x, y)
    return x / (x * x + y * y) / largest


def _evaluated(divisor_of: Callable[[Any, Any], Any], algorithm: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Returns a NumPy function that divides by a length or its square, or calls an algorithm where that is inexact.

    Args:
      divisor_of: returns the divisor.
      algorithm: exact everywhere, but slower.
    """

    @of_numpy
    def function(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            divisor = divisor_of(x, y)
            is_exact = (divisor > _least(divisor.dtype)) & (divisor < np.inf)
            if is_exact.all():
                return np.divide(x, divisor)
            return np.where(is_exact, np.divide(x, divisor), algorithm(x, y)).astype(divisor.dtype)[()]

    return function


@cache
def _least(dtype: np.dtype[Any]) -> float:
    digits = int(ml_dtypes.finfo(dtype).nmant) + 1
    return least_normal(dtype) * float(1 << digits)


def _infinite_to_one(x: Any) -> Any:
    return np.where(x == np.inf, 1.0, np.where(x == -np.inf, -1.0, x * 0.0))


def _along_x(t: Any, ans: Any, x: Any, y: Any) -> Any:
    sine = direction_cosine_p.bind(y, x)
    return mul(t, mul(div(sine, hypot_p.bind(x, y)), sine))


def _along_y(t: Any, ans: Any, x: Any, y: Any) -> Any:
    return neg(mul(t, div(mul(ans, direction_cosine_p.bind(y, x)), hypot_p.bind(x, y))))


def _along_first(t: Any, ans: Any, x: Any, y: Any) -> Any:
    other = inversion_p.bind(y, x)
    return mul(t, sub(square(other), square(ans)))


def _along_second(t: Any, ans: Any, x: Any, y: Any) -> Any:
    return mul(t, mul(mul(ans, inversion_p.bind(y, x)), -2))


hypot: Elementwise = elementwise(
    "hypot",
    """Returns ``sqrt(x ** 2 + y ** 2)`` elementwise, promoted and broadcast as by ``numpy.hypot``, without overflow.

    >>> f"{hypot(3e200, 4e200):.10g}"
    '5e+200'
    """,
    np.hypot,
    lowered(_hypot),
    arity=2,
    derivatives=(
        lambda t, ans, x, y: mul(t, direction_cosine_p.bind(x, y)),
        lambda t, ans, x, y: mul(t, direction_cosine_p.bind(y, x)),
    ),
    commutes=True,
    excluded=(Excluded(_is_origin, "a length has no direction at 0"),),
)
#: ``x / hypot(x, y)``: the cosine of the angle from the first axis to the vector.
direction_cosine_p: Primitive = elementwise(
    "direction_cosine",
    "",
    _evaluated(np.hypot, _direction_cosine),
    lowered(_direction_cosine),
    arity=2,
    promote_as=np.hypot,
    derivatives=(_along_x, _along_y),
    excluded=(Excluded(_is_origin, "the origin has no angle", order=0),),
).primitive
#: ``x / (x ** 2 + y ** 2)``: the first side of the vector inverted in the unit circle.
inversion_p: Primitive = elementwise(
    "inversion",
    "",
    _evaluated(lambda x, y: np.multiply(x, x) + np.multiply(y, y), _inversion),
    lowered(_inversion),
    arity=2,
    promote_as=np.hypot,
    derivatives=(_along_first, _along_second),
    excluded=(Excluded(_is_origin, "a pole", order=0),),
).primitive
hypot_p = hypot.primitive
