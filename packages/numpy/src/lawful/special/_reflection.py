"""What the reflection of gamma functions at negative numbers needs."""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.autodiff import stop_gradient


def alternating(x: Any) -> Any:
    """Returns -1 for odd integers and 1 for even ones, of their dtype."""
    is_odd = ops.ne(ops.mul(ops.floor(ops.mul(x, 0.5)), 2), x)
    return ops.convert_element_type(ops.where(is_odd, -1.0, 1.0), x.dtype)


def sine_of_pi(x: Any) -> Any:
    """Returns ``sin(π x)``, exact at and near integers."""
    nearest = ops.round_nearest_even(x)
    return ops.mul(alternating(nearest), ops.sin(ops.mul(ops.sub(x, nearest), math.pi)))


def without_derivative(x: Any, where: Any) -> Any:
    """Returns ``x`` with NaN derivatives at some elements: 0 times the infinite slope of a root at 0."""
    return ops.add(x, ops.mul(ops.sqrt(ops.where(where, ops.sub(x, stop_gradient(x)), 1)), 0))
