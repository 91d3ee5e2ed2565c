"""Strategies of arrays: every dtype of the standard, up to three dimensions of up to three elements, special values.

Elements are chosen from pools that hold what functions treat specially. Subnormal numbers are left out: XLA on the CPU
takes them for zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
Dtype = np.dtype[Any]
Strategy = st.SearchStrategy[Any]
Shape = tuple[int, ...]

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
FLOATING = (*FLOATS, *COMPLEX)
NUMERIC = (*REAL, *COMPLEX)
ALL = (*BOOL, *NUMERIC)

_SMALL = (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, -0.0, 1.5, -1.5, 2.5, -0.5, 0.1, 7.25, -3.7, 10.0, 1e-3, -0.75)
_SPECIAL = (float("nan"), float("inf"), float("-inf"))
# XLA may divide by multiplication with a reciprocal, which is not subnormal for these numbers.
_WIDE = (1e10, -1e10, 1e-10, 1e-30, 8e37, -8e37, 88.0, -104.0, 1e5)


@cache
def pool(dtype: str, kind: str) -> Array:
    """Returns the values from which the elements of an array are chosen, the simplest first.

    Args:
      dtype: of the array.
      kind: ``"any"``; ``"finite"``; ``"small"`` for those of modest size; ``"special"`` for these, NaN and infinities;
        ``"positive"`` and ``"unit"`` for those of modest size above 0, and for those of absolute value at most 1.
    """
    of = np.dtype(dtype)
    if of.kind == "b":
        return np.array([False, True])
    if of.kind in "iu":
        return _integers(of, kind)
    numbers = [x for x in _SMALL if (kind != "positive" or x > 0) and (kind != "unit" or abs(x) <= 1)]
    if kind in ("any", "finite"):
        numbers += _WIDE
    if kind in ("any", "special"):
        numbers += _SPECIAL
    if of.kind == "f":
        return np.array(numbers, of)
    parts = np.array(numbers, "float32" if dtype == "complex64" else "float64")
    pairs = np.empty((len(parts), len(parts)), of)
    pairs.real, pairs.imag = parts[:, None], parts
    return pairs.reshape(-1)


def _integers(dtype: Dtype, kind: str) -> Array:
    limits = np.iinfo(dtype)
    if kind in ("positive", "unit"):
        return np.array([1] if kind == "unit" else [1, 2, 3, 5, 10], dtype)
    numbers = [0, 1, 2, 3, 5, 10] + ([-1, -2, -7] if limits.min < 0 else [])
    if kind not in ("small", "special"):
        numbers += [limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 2 + 1, 100]
    return np.array(numbers, dtype)


# Shapes

# Lengths of dimensions, in the order of simplicity; 0 is rarer than others.
_LENGTH = st.sampled_from((2, 1, 3, 2, 3, 0))


@cache
def shapes(min_ndim: int = 0, max_ndim: int = 3, *, of: Strategy = _LENGTH) -> Strategy:
    """Draws shapes."""
    return st.lists(of, min_size=min_ndim, max_size=max_ndim).map(tuple)


@cache
def nonempty(min_ndim: int = 0, max_ndim: int = 3) -> Strategy:
    """Draws shapes of arrays that have an element."""
    return shapes(min_ndim, max_ndim, of=st.sampled_from((2, 1, 3)))


@st.composite
def broadcastable(draw: st.DrawFn, count: int, shape: Shape | None = None) -> list[Shape]:
    """Draws shapes that broadcast together."""
    whole = draw(shapes()) if shape is None else shape
    return [draw(smaller(whole)) for _ in range(count)]


@cache
def smaller(shape: Shape) -> Strategy:
    """Draws shapes that broadcast to a given one."""
    suffixes = [shape[i:] for i in range(len(shape) + 1)]
    kept = {tuple(sizes) for suffix in suffixes for sizes in product(*[{size, 1} for size in suffix])}
    return st.one_of(st.just(shape), st.sampled_from(sorted(kept, key=lambda sizes: (-len(sizes), sizes))))


# Arrays


@cache
def filled(shape: Shape, dtype: str, kind: str = "any") -> Strategy:
    """Draws arrays of a shape and dtype."""
    count = int(np.prod(shape, dtype=np.int64))
    values = pool(dtype, kind)

    def array(drawn: bytes) -> Array:
        return values[np.frombuffer(drawn, ">u2") % len(values)].reshape(shape)

    # Two bytes per element: there are more complex numbers than bytes.
    return st.binary(min_size=2 * count, max_size=2 * count).map(array)


@st.composite
def arrays(
    draw: st.DrawFn,
    dtypes: Sequence[str],
    shape: Strategy | Shape | None = None,
    kind: str = "any",
    *,
    complex_kind: str | None = None,
) -> Array:
    """Draws arrays of some dtypes."""
    of = shape if isinstance(shape, tuple) else draw(shapes() if shape is None else shape)
    dtype = draw(st.sampled_from(dtypes))
    return draw(filled(of, dtype, complex_kind or kind if dtype in COMPLEX else kind))


@cache
def scalars(dtype: str, kind: str = "any") -> Strategy:
    """Draws Python scalars that the standard allows beside arrays of a dtype."""
    of = np.dtype(dtype)
    if of.kind == "b":
        return st.booleans()
    integers = st.sampled_from(pool("int8", "positive" if kind == "positive" or of.kind == "u" else "small").tolist())
    if of.kind in "iu":
        return integers
    # In programs of float32, a number that float32 cannot represent is another number.
    floats = st.sampled_from([x for x in pool("float32", kind).tolist() if np.isnan(x) or abs(x) < 1e30])
    return st.one_of(integers, floats, *([st.builds(complex, floats, floats)] if of.kind == "c" else []))
