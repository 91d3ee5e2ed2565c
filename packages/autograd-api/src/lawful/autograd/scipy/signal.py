"""Convolution of arrays along some of their dimensions.

>>> import numpy
>>> convolve(numpy.array([1.0, 2.0]), numpy.array([1.0, 1.0]))
array([1., 3., 2.])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError

Axes = Sequence[Sequence[int]]


def convolve(A: Any, B: Any, axes: Axes | None = None, dot_axes: Axes | None = None, mode: str = "full") -> Any:
    """Returns the convolution of two arrays along some dimensions, added up along others.

    Args:
      A: an array.
      B: an array.
      axes: the dimensions of ``A``, and as many of ``B``, that are convolved; by default all.
      dot_axes: the dimensions of ``A``, and as many of ``B``, along which products are added up; by default none.
      mode: "full", "valid" or "same", as in ``scipy.signal.convolve``.

    Returns:
      An array with the other dimensions of ``A``, those of ``B``, and the convolved ones.

    Raises:
      ArgumentValueError: the mode is another one, or "valid" with neither array inside of the other.

    >>> convolve(np.asarray([1.0, 2.0, 3.0]), np.asarray([1.0, 1.0]), mode="valid")
    array([3., 5.])

    Source: ``autograd.scipy.signal.convolve``.
    """
    if mode not in ("full", "valid", "same"):
        raise ArgumentValueError(
            f"convolve: expected the mode 'full', 'valid' or 'same', got {mode!r}; give one of them"
        )
    A, B = np.asarray(A), np.asarray(B)
    axes_a, axes_b = axes or [range(A.ndim), range(A.ndim)]
    dots_a, dots_b = dot_axes or [(), ()]
    dtype = np.result_type(A, B, float)
    left, others_a = _arranged(np.astype(A, dtype), axes_a, dots_a)
    right, others_b = _arranged(np.astype(B, dtype), axes_b, dots_b)
    sizes_a, sizes_b = left.shape[2:], right.shape[2:]
    swapped = mode != "same" and prod(sizes_a) < prod(sizes_b)
    if swapped:
        left, right, sizes_a, sizes_b = right, left, sizes_b, sizes_a
    if mode == "valid" and any(b > a for a, b in zip(sizes_a, sizes_b, strict=True)):
        raise ArgumentValueError(
            f"convolve: expected one array inside of the other along all dimensions in mode 'valid', got {sizes_a} and "
            f"{sizes_b}; use mode 'full'"
        )
    padding = [
        {"full": (b - 1, b - 1), "valid": (0, 0), "same": (b - 1 - (b - 1) // 2, (b - 1) // 2)}[mode] for b in sizes_b
    ]
    if not sizes_a:
        out = np.tensordot(left, right, [[1], [1]])
    else:
        flipped = np.flip(right, tuple(range(2, right.ndim)))
        out = ops.conv_general_dilated(left, flipped, (1,) * len(sizes_a), padding)
    if swapped:
        out = np.swapaxes(out, 0, 1)
    return np.reshape(out, (*others_a, *others_b, *out.shape[2:]))


def _arranged(x: Any, axes: Sequence[int], dots: Sequence[int]) -> tuple[Any, list[int]]:
    """Returns an array of shape (others, dots, *axes), and the lengths of the other dimensions."""
    axes, dots = [i % x.ndim for i in axes], [i % x.ndim for i in dots]
    others = [i for i in range(x.ndim) if i not in axes and i not in dots]
    sizes = [x.shape[i] for i in others]
    x = np.transpose(x, (*others, *dots, *axes))
    inner = [*sizes, *[x.shape[len(others) + i] for i in range(len(dots))]]
    return np.reshape(x, (prod(sizes), prod(inner[len(sizes) :]), *x.shape[x.ndim - len(axes) :])), sizes
