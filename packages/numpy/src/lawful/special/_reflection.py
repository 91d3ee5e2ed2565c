"""Helpers of the reflection of gamma functions at negative numbers."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy

from lawful import ops
from lawful.core import get_aval
from lawful.custom_rules import custom_jvp


def alternating(x: Any) -> Any:
    """Returns -1 for odd integers and 1 for even ones, of their dtype."""
    is_odd = ops.ne(ops.mul(ops.floor(ops.mul(x, 0.5)), 2), x)
    return ops.convert_element_type(ops.where(is_odd, -1.0, 1.0), x.dtype)


def sine_of_pi(x: Any) -> Any:
    """Returns ``sin(π x)``, exact at and near integers."""
    nearest = ops.round_nearest_even(x)
    return ops.mul(alternating(nearest), ops.sin(ops.mul(ops.sub(x, nearest), math.pi)))


def sine_of_pi_sum(a: Any, b: Any) -> Any:
    """Returns ``sin(π (a + b))``, exact at and near integers, next to which the sum is rounded."""
    total = ops.add(a, b)
    # The rounding of the sum is a sum of exact differences.
    part = ops.sub(total, a)
    rest = ops.add(ops.sub(a, ops.sub(total, part)), ops.sub(b, part))
    nearest = ops.round_nearest_even(total)
    return ops.mul(alternating(nearest), sine_of_pi(ops.add(ops.sub(total, nearest), rest)))


def largest(x: Any) -> float:
    """Returns the largest finite number of the dtype of ``x``."""
    return float(ml_dtypes.finfo(get_aval(x).dtype).max)


@custom_jvp
def without_derivative(x: Any, where: Any) -> Any:
    """Returns ``x`` with NaN derivatives at some elements."""
    return x


@without_derivative.defjvp
def _without_derivative_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    # Linear in the tangent, so that it adds no zeros to second derivatives, which may meet an infinite slope.
    (x, where), (x_dot, _) = primals, tangents
    return x, ops.mul(x_dot, ops.where(where, ops.full_like(x, numpy.nan), 1))
