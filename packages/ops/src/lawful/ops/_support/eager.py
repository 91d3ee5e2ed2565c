"""Tests of arguments for eager evaluation, where a function may call NumPy directly."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.core import current, supported_dtypes

__all__ = ["is_eager"]

#: The dtypes that NumPy promotes as lawful does.
_NATIVE_DTYPES: Final = frozenset(
    dtype for dtype in supported_dtypes if dtype.kind in "biufc" and "float8" not in dtype.name
)
_SCALAR_TYPES: Final = frozenset({*(dtype.type for dtype in _NATIVE_DTYPES), float, complex, bool, int})


def is_eager(*args: Any) -> bool:
    """Returns whether arguments are evaluated at once, and NumPy promotes them as lawful does.

    A Python integer beyond int64 is not: NumPy converts it to uint64 or to an object.

    >>> is_eager(np.ones(2), 3.0), is_eager("text"), is_eager(2**64)
    (True, False, False)
    """
    if not current.trace.evaluates_constants:
        return False
    for x in args:
        cls = type(x)
        if cls is np.ndarray:
            if x.dtype not in _NATIVE_DTYPES:
                return False
        elif cls not in _SCALAR_TYPES or (cls is int and not -(2**63) <= x < 2**63):
            return False
    return True


def is_eager_array(x: Any) -> bool:
    """Returns whether ``x`` is a NumPy array that is evaluated at once."""
    return type(x) is np.ndarray and is_eager(x)
