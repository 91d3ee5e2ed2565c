"""Arrays within an interval, and the text of values as Python."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from lawful.core import Interval, ShapedArray, bfloat16, float0, is_array, is_inexact, kind

# The distance of values from the ends of an interval and from excluded points; larger than finite differences.
_MARGIN = 0.05


# The interval of an unrestricted domain, and the moderate interval used in its place.
_ANYWHERE, _MODERATE = Interval(), Interval(-6.0, 6.0)


def excluded_points(interval: Interval) -> list[float]:
    """Returns the points that an interval excludes."""
    return [excluded.point for excluded in interval.excluded if isinstance(excluded.point, float)]


def inner_interval(interval: Interval) -> tuple[float, float]:
    """Returns the ends of the largest part of an interval that is far from excluded points and from its ends."""
    within = sorted(point for point in excluded_points(interval) if interval.low < point < interval.high)
    points = [interval.low, *within, interval.high]
    gaps = list(pairwise(points))
    low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
    margin = _MARGIN * (high - low)
    return low + margin, high - margin


def integer_interval(interval: Interval, dtype: np.dtype[Any]) -> tuple[int, int]:
    """Returns the smallest and largest integer of a dtype in an interval; small positive ones if there is none."""
    low, high = math.ceil(interval.low), math.floor(interval.high)
    if dtype.kind == "u":
        low = max(low, 0)
    return (low, high) if low <= high else (1, 3)


def is_within(value: Any, interval: Interval) -> bool:
    """Whether all elements of a value lie in an interval, away from its ends and from excluded points."""
    x = np.asarray(value)
    if interval == _ANYWHERE:
        interval = _MODERATE
    if not x.size or x.dtype.kind == "b":
        return True
    if x.dtype.kind in "iu":
        low, high = integer_interval(interval, x.dtype)
        return bool(np.all((x >= low) & (x <= high)))
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x.astype(np.float64),)
    margin = 0.02 * (interval.high - interval.low)
    return all(
        bool(np.all((part >= interval.low + margin) & (part <= interval.high - margin)))
        and all(bool(np.all(np.abs(part - point) >= margin)) for point in excluded_points(interval))
        for part in parts
    )


def array_in(random: np.random.Generator, aval: ShapedArray, interval: Interval) -> Any:
    """Returns a random value of a type within an interval: of two decimals, so that it prints short.

    A weak type gives a Python number.
    """
    shape, dtype = aval.shape, aval.dtype
    if dtype.kind == "b":
        x = random.integers(0, 2, shape).astype(bool)
    elif dtype.kind in "iu":
        low, high = integer_interval(interval, dtype)
        x = random.integers(low, high + 1, shape).astype(dtype)
    else:
        ends = inner_interval(interval)
        x = np.round(random.uniform(*ends, shape), 2)
        if dtype.kind == "c":
            x = x + 1j * np.round(random.uniform(*ends, shape), 2)
        x = np.asarray(x).astype(dtype)
    x = np.asarray(x)
    return x.item() if aval.weak_type else x


def expression(value: Any) -> str:
    """Returns the Python expression of a static value: a number, array, dtype, tuple, string or None.

    >>> expression((np.array([1.0, 2.0], "float32"), None))
    "(np.array([1.0, 2.0], 'float32'), None)"
    """
    if isinstance(value, np.ndarray | np.generic) or type(value).__name__ == "Array":
        return _array_expression(np.asarray(value))
    if isinstance(value, np.dtype):
        return f"core.as_dtype({value.name!r})" if value.kind == "V" else f"np.dtype({value.name!r})"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = ", ".join(f"{name}={expression(item)}" for name, item in zip(value._fields, value, strict=True))
        return f"{type(value).__name__}({items})"
    if isinstance(value, tuple):
        items = ", ".join(map(expression, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, list):
        return f"[{', '.join(map(expression, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {expression(item)}' for key, item in value.items())}}}"
    if isinstance(value, slice):
        return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
    if value is Ellipsis:
        return "..."
    if isinstance(value, float | complex) and not np.isfinite(value):
        return f"{type(value).__name__}({str(value)!r})"
    return repr(value)


def _array_expression(x: np.ndarray[Any, Any]) -> str:
    if x.dtype == float0:
        return f"np.zeros({x.shape}, core.float0)"
    native = x.dtype.kind in "biufc" and x.dtype != bfloat16
    items = repr((x if native else x.astype(np.float64)).tolist())
    for word in ("nan", "inf"):
        items = items.replace(word, f"np.{word}")
    if native:
        implied = x.dtype in (np.float64, np.complex128) and x.size > 0
        # NumPy infers these dtypes from the numbers.
        text = (
            f"np.array({items})"
            if implied or (x.dtype == np.bool_ and x.size)
            else f"np.array({items}, {x.dtype.name!r})"
        )
    else:
        text = f"np.array({items}).astype(core.as_dtype({x.dtype.name!r}))"
    return text if x.size or x.ndim < 2 else f"np.zeros({x.shape}, {x.dtype.name!r})"


def is_differentiable(value: Any) -> bool:
    """Whether a leaf is an array of floating or complex numbers, so that it has a tangent."""
    return is_array(value) and is_inexact(np.asarray(value).dtype if not hasattr(value, "dtype") else value.dtype)


def is_real(value: Any) -> bool:
    """Whether a leaf is an array of real floating numbers."""
    return is_differentiable(value) and kind(np.asarray(value).dtype) == "f"


def indented(text: str) -> str:
    """Returns a text with four spaces before each line that is not empty."""
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").splitlines())
