"""Factors of derivatives, as primitives of their own: exact where their definitions by other ops are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import Primitive, get_aval, of_numpy
from lawful.ops._elementwise.arithmetic.arithmetic import abs, add, div, mul, neg, rsqrt, square, sub
from lawful.ops._elementwise.comparison import bitwise_or, ge, gt, lt
from lawful.ops._elementwise.complex_parts import imag, real
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._elementwise.transcendental.exponential import exp
from lawful.ops._support.double import lowered


def derivative_factor(
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


@of_numpy
def _numpy_one_minus_square(x: Any) -> Any:
    return np.subtract(1, x) * np.add(1, x)  # ufuncs, which return NumPy values for Python scalars too


@of_numpy
def _numpy_hypot_one(x: Any) -> Any:
    size = np.abs(x)
    large = np.maximum(size, 1)
    ratio = np.minimum(size, 1) / large
    return large * np.sqrt(1 + ratio * ratio)


#: ``1 - x ** 2``, also where ``x`` is near 1, with a derivative in which no terms cancel.
one_minus_square_p: Primitive = derivative_factor(
    "one_minus_square", _numpy_one_minus_square, lambda t, ans, x: mul(t, mul(x, -2)), "fc"
)
#: ``sqrt(1 + x ** 2)``, also where the square overflows.
hypot_one_p: Primitive = derivative_factor("hypot_one", _numpy_hypot_one, lambda t, ans, x: mul(t, div(x, ans)))


def rsqrt_one_minus_square(x: Any) -> Any:
    """Returns ``1 / sqrt(1 - x ** 2)``: the slope of the inverse sine, on its side of the branch cuts."""
    if get_aval(x).dtype.kind != "c":
        return rsqrt(one_minus_square_p.bind(x))
    # Two roots, because the square may overflow. Sums would lose the sign of a zero part, which selects the side.
    return mul(rsqrt(neg(sub(x, 1))), rsqrt(sub(x, -1)))


def complex_sech_squared(ans: Any, x: Any) -> Any:
    """Returns ``1 - ans ** 2`` for ``ans = tanh(x)``, also where the complex hyperbolic tangent is near ±1."""
    is_left = lt(real(x), 0)
    small = exp(mul(where(is_left, x, neg(x)), 2))
    return where(gt(abs(real(x)), 1), div(mul(small, 4), square(add(small, 1))), sub(1, square(ans)))


def zero_when_far(slope: Callable[[Any], Any], x: Any, *, squared: bool = False) -> Any:
    """Returns ``slope(x)``, a derivative that tends to 0 at infinity, but 0 where a complex ``x`` is infinite.

    Args:
      slope: a function of ``x`` whose terms cancel or overflow at infinity, and which is regular at ``3i``.
      x: an array.
      squared: whether the derivative is near to ``±1 / x ** 2``, and 0 where the square overflows too.
    """
    dtype = get_aval(x).dtype
    if dtype.kind != "c":
        return slope(x)
    limit = 2.0 ** (ml_dtypes.finfo(dtype).maxexp // 2) if squared else np.inf
    is_far = bitwise_or(ge(abs(real(x)), limit), ge(abs(imag(x)), limit))
    return where(is_far, 0, slope(where(is_far, 3j, x)))
