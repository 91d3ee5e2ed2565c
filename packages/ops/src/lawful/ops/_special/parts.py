"""Complex numbers as pairs of real ones, for algorithms of special functions."""

from __future__ import annotations

from typing import Any

import numpy as np

#: A complex number as its parts: XLA compiles real arithmetic faster, and it has no terms of infinity minus infinity.
Parts = tuple[Any, Any]


def times(a: Parts, b: Parts) -> Parts:
    """Returns a product."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def plus(a: Parts, b: Parts) -> Parts:
    """Returns a sum."""
    return a[0] + b[0], a[1] + b[1]


def scaled(a: Parts, factor: Any) -> Parts:
    """Returns a product with a real number."""
    return a[0] * factor, a[1] * factor


def where_parts(condition: Any, a: Parts, b: Parts) -> Parts:
    """Returns ``a`` where a condition holds, else ``b``."""
    return np.where(condition, a[0], b[0]), np.where(condition, a[1], b[1])


def inverse(a: Parts) -> Parts:
    """Returns ``1 / a``, also where the square of ``a`` overflows."""
    largest = np.maximum(np.abs(a[0]), np.abs(a[1]))
    re, im = a[0] / largest, a[1] / largest
    size = (re * re + im * im) * largest
    return re / size, -im / size


def power(a: Parts, exponent: int) -> Parts:
    """Returns a positive integral power."""
    out = a
    for _ in range(exponent - 1):
        out = times(out, a)
    return out


def logarithm(a: Parts) -> Parts:
    """Returns the principal value of the logarithm."""
    largest = np.maximum(np.abs(a[0]), np.abs(a[1]))
    re, im = a[0] / largest, a[1] / largest
    return np.log(largest) + np.log(re * re + im * im) / 2, np.arctan2(a[1], a[0])
