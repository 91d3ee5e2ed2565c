"""Conversion of values that NumPy and JAX take as arrays: lists of numbers, objects with a method for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import is_array

__all__ = ["from_array_like"]


def from_array_like(x: Any) -> Any:
    """Returns a list or tuple of numbers, or an object with ``__array__``, as an array; anything else as it is.

    Values with tracers in them, and values that are no array of numbers, are returned unchanged. An object with
    ``__jax_array__`` is replaced by the result of that method, which may be a tracer.

    >>> from_array_like([1.0, 2.0]), from_array_like("a"), from_array_like([[1.0], [1.0, 2.0]])
    (array([1., 2.]), 'a', [[1.0], [1.0, 2.0]])
    """
    if hasattr(type(x), "__jax_array__"):
        x = x.__jax_array__()
    if is_array(x) or not (isinstance(x, list | tuple) or hasattr(x, "__array__")):
        return x
    try:
        found = np.asarray(x)
    except (TypeError, ValueError):
        return x
    return found if is_array(found) and found.dtype.kind in "biufc" else x
