"""Comparison of a result with the standard: structure, shapes, dtypes and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawful.core import is_array, python_scalar_types

from .arrays import Array


@dataclass(frozen=True)
class Closeness:
    """The allowed distance of two results.

    Attributes:
      digits: the largest error of an element, in units of the last place of the larger one.
      terms: the same of the largest element, for sums in which terms may cancel; also of the arguments.
      zeros: whether zeros have to agree in sign.
      parts: whether zeros have to that are parts of complex numbers, as in sums of products they need not.
      values: whether values are compared at all: not where the standard leaves them open.
    """

    digits: float = 0
    terms: float = 0
    zeros: bool = True
    parts: bool = True
    values: bool = True


exact = Closeness()


def difference(got: Any, want: Any, closeness: Closeness = exact, scale: float = 0.0) -> str | None:
    """Describes the difference of two results; None if they agree.

    Args:
      got: arrays, numbers, dtypes and booleans, alone or in tuples and lists.
      want: the same.
      closeness: how far apart values may be.
      scale: the size of terms.
    """
    if isinstance(want, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(want):
            return f"expected {len(want)} results, got {got!r}"
        if hasattr(want, "_fields") and getattr(got, "_fields", None) != want._fields:
            return f"expected the fields {want._fields}, got {got!r}"
        found = (difference(x, y, closeness, scale) for x, y in zip(got, want, strict=True))
        return next((text for text in found if text), None)
    if isinstance(want, np.ndarray):
        return _array_difference(got, want, closeness, scale)
    return None if got == want and type(got) is type(want) else f"expected {want!r}, got {got!r}"


def _array_difference(got: Any, want: Array, closeness: Closeness, scale: float) -> str | None:
    if not is_array(got) or type(got) in python_scalar_types:
        return f"expected an array, got {got!r}"
    have = np.asarray(got)
    if have.shape != want.shape or have.dtype != want.dtype:
        return f"expected {want.dtype}{want.shape}, got {have.dtype}{have.shape}"
    if not closeness.values:
        return None
    with np.errstate(all="ignore"):
        wrong = _wrong(have, want, closeness, scale)
    if not wrong.any():
        return None
    index = tuple(np.argwhere(wrong)[0].tolist())
    whole = f"; in all {want.tolist()} and {have.tolist()}" if want.size < 30 else ""
    return f"expected {want[index]} at {index}, got {have[index]}; so {np.sum(wrong)} of {want.size}{whole}"


def _wrong(have: Array, want: Array, closeness: Closeness, scale: float) -> Array:
    """Describes where two arrays of one shape and dtype differ."""
    if want.dtype.kind in "biu":
        return np.asarray(have != want)
    if want.dtype.kind == "c":
        if closeness.digits or closeness.terms:
            return _wrong_complex(have, want, closeness, scale)
        return _wrong(have.real, want.real, closeness, scale) | _wrong(have.imag, want.imag, closeness, scale)
    return _wrong_parts(have, want, _allowed(np.abs(want), closeness, scale), closeness)


def _wrong_complex(have: Array, want: Array, closeness: Closeness, scale: float) -> Array:
    """Describes where two complex arrays differ; the error of one part may be as large as the other part allows."""
    length = np.abs(want)
    wrong = np.zeros(want.shape, bool)
    closeness = replace(closeness, zeros=closeness.zeros and closeness.parts)
    for x, y in ((have.real, want.real), (have.imag, want.imag)):
        allowed = _allowed(np.where(np.isfinite(length), length, np.abs(y)), closeness, scale)
        # Beside a NaN, the standard does not define the sign of a zero.
        parts = _wrong_parts(x, y, allowed, closeness), _wrong_parts(x, y, allowed, replace(closeness, zeros=False))
        wrong = wrong | np.where(np.isnan(want), parts[1], parts[0])
    return np.asarray(wrong)


def _wrong_parts(have: Array, want: Array, allowed: Array, closeness: Closeness) -> Array:
    is_close = (have == want) | (np.isnan(have) & np.isnan(want)) | (np.abs(have - want) <= allowed)
    if closeness.zeros:
        is_close &= (want != 0) | (have != 0) | (np.signbit(have) == np.signbit(want))
    return np.asarray(~is_close)


def _allowed(size: Array, closeness: Closeness, scale: float) -> Array:
    limits = np.finfo(size.dtype)
    wide = size.astype(np.longdouble)
    largest = max(scale, float(np.max(size, initial=0.0, where=np.isfinite(size))))
    error = wide * closeness.digits * limits.eps + closeness.terms * limits.eps * largest
    # XLA on the CPU flushes subnormal numbers to zero.
    return np.where(np.isfinite(size), error, 0) + limits.smallest_normal
