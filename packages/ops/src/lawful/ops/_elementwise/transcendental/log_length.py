"""The logarithm of the length of ``1 + z``, where the terms of its square cancel: near the circle around -1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.ops._support.double import rounding

#: The bits of float64 below the upper half of its significand, of 26 bits, and a half of the last bit of that.
_LOWER_HALF = 2**27 - 1
_ROUNDING = 2**26
_SMALL = 2.0**-300


def near_circle(x: Any, y: Any) -> Any:
    """Returns where ``|1 + x + iy|`` is from 1/2 to 2, so that its logarithm is small or is zero.

    >>> near_circle(np.array([-2.0, 5.0]), np.array([0.1, 0.0]))
    array([ True, False])
    """
    square = x * (2 + x) + y * y
    return (square > -0.75) & (square < 3)


def log_length(x: Any, y: Any) -> Any:
    """Returns ``log |1 + x + iy|``, exact to the last bits wherever `near_circle` is true.

    ``2x + x² + y²`` is summed from terms without rounding errors, as if with three times the precision of float64.

    Args:
      x: an array of float32 or float64.
      y: another one, of its shape.

    >>> log_length(np.array([-0.0036186238960848]), np.array([0.0849950195791982]))
    array([-2.54166904e-21])
    """
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    # Squares of small numbers may underflow, of which XLA loses all bits.
    scale = np.where(np.maximum(np.abs(wide_x), np.abs(wide_y)) < _SMALL, 1 / _SMALL, 1.0)
    first = 2 * wide_x * scale * scale
    change = _sum([first, *_square(wide_x * scale), *_square(wide_y * scale)]) / scale / scale
    return (0.5 * np.log1p(change)).astype(x.dtype)


def _square(x: Any) -> list[Any]:
    """Returns three terms without rounding errors, from small to large, whose sum is the square."""
    # By bits: a compiler may join products and sums, which changes Dekker's splitting.
    bits = x.view(np.int64) + _ROUNDING
    high = (bits & ~np.int64(_LOWER_HALF)).view(np.float64)
    low = x - high
    return [low * low, 2 * (high * low), high * high]


def _sum(terms: Sequence[Any]) -> Any:
    """Returns the sum of terms, of which partial sums may cancel: algorithm SumK of Ogita, Rump and Oishi for K = 3."""
    for _ in range(2):
        total, *rest = terms
        errors = []
        for term in rest:
            errors.append(rounding(total, term))
            total = total + term
        terms = [*errors, total]
    return sum(terms)
