"""Convolution and correlation of arrays of any rank, directly or by Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axes, static_integers

_PADDINGS = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Any:
    """Returns the convolution of two arrays of the same rank.

    Args:
      in1: an array.
      in2: an array of as many dimensions; integers become floats, and the dtypes are promoted.
      mode: ``"full"`` wherever the arrays meet; ``"same"`` as many elements as ``in1`` has, from the middle;
        ``"valid"`` where one of them lies inside of the other.
      method: ``"fft"`` for `fftconvolve`; ``"direct"`` or ``"auto"`` for sums of products.
      precision: how exactly an accelerator multiplies, as for `lawful.ops.conv_general_dilated`.

    Raises:
      ArgumentValueError: the ranks differ, the mode or method is another one, an array is empty, or in mode ``"valid"``
        none lies inside of the other.

    Law: linear in each array.

    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), mode="same")
    array([1. , 2.5, 4. ])

    Source: ``scipy.signal.convolve``.
    """
    if method not in ("auto", "direct", "fft"):
        raise ArgumentValueError(f"convolve: expected method='auto', 'direct' or 'fft', got {method!r}; choose one")
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    return _direct("convolve", *_operands("convolve", in1, in2), mode, precision)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Any:
    """Returns the products of an array with the conjugate of another one at each offset, summed.

    Args and errors: as `convolve`.

    >>> correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]))
    array([0.5, 2. , 3.5, 3. , 0. ])

    Source: ``scipy.signal.correlate``.
    """
    return convolve(in1, np.flip(np.conj(in2)), mode, method, precision)


def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0, precision: Any = None
) -> Any:
    """Returns the convolution of two matrices.

    Args:
      in1: a matrix.
      in2: a matrix.
      mode: as in `convolve`.
      boundary: how ``in1`` goes on outside: ``"fill"`` with a value, ``"wrap"`` periodically, ``"symm"`` reflected.
      fillvalue: the value.
      precision: as in `convolve`.

    Raises:
      ArgumentValueError: there is no such boundary, one array is no matrix; and as `convolve`.

    >>> convolve2d(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]), "same", "wrap")
    array([[3., 3.]])

    Source: ``scipy.signal.convolve2d``.
    """
    return _in_the_plane("convolve2d", in1, in2, mode, boundary, fillvalue, precision)


def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0, precision: Any = None
) -> Any:
    """Returns the products of a matrix with the conjugate of another one at each offset, summed.

    Args and errors: as `convolve2d`. In mode ``"valid"`` with ``in1`` inside of ``in2``, the first matrix is conjugated
    instead, as in SciPy and JAX.

    >>> correlate2d(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[ 4., 11.,  6.]])

    Source: ``scipy.signal.correlate2d``.
    """
    # The middle of an even number of elements is the later one here, as in SciPy.
    out = _in_the_plane("correlate2d", in1, np.flip(np.conj(in2)), mode, boundary, fillvalue, precision, late=1)
    swapped = mode == "valid" and any(a < b for a, b in zip(get_aval(in1).shape, get_aval(in2).shape, strict=True))
    return np.conj(out) if swapped and get_aval(out).dtype.kind == "c" else out


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Returns the convolution of two arrays along some dimensions, by Fourier transforms.

    Args:
      in1: an array.
      in2: an array of as many dimensions; integers become floats, and the dtypes are promoted.
      mode: as in `convolve`.
      axes: the dimensions; all by default. The others broadcast.

    Raises:
      AxisError: there is no such dimension.
      ArgumentValueError: other dimensions do not broadcast; and as `convolve`.

    >>> fftconvolve(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0]]), axes=1)
    array([[1., 3., 2.],
           [3., 7., 4.]])

    Source: ``scipy.signal.fftconvolve``.
    """
    in1, in2 = _operands("fftconvolve", in1, in2)
    left, right = get_aval(in1), get_aval(in2)
    if axes is not None:
        axes = static_integers("fftconvolve", "axes", axes)
    dims = list(range(left.ndim)) if axes is None else list(canonical_axes("fftconvolve", axes, left.ndim))
    starts, lengths = _parts("fftconvolve", [left.shape[i] for i in dims], [right.shape[i] for i in dims], mode)
    sizes = [left.shape[i] + right.shape[i] - 1 for i in dims]
    if not dims:
        return np.multiply(in1, in2)
    if left.dtype.kind == "c":
        out = np.fft.ifftn(ops.mul(np.fft.fftn(in1, sizes, dims), np.fft.fftn(in2, sizes, dims)), axes=dims)
    else:
        out = np.fft.irfftn(ops.mul(np.fft.rfftn(in1, sizes, dims), np.fft.rfftn(in2, sizes, dims)), sizes, dims)
    for i, start, length in zip(dims, starts, lengths, strict=True):
        out = ops.slice_in_dim(out, start, start + length, axis=i)
    return ops.convert_element_type(out, left.dtype)


# Shared parts


def _operands(name: str, in1: Any, in2: Any) -> tuple[Any, Any]:
    """Returns two arrays of one rank and one floating or complex dtype."""
    in1, in2 = inexact(name, in1, in2, linear_algebra=False)
    left, right = get_aval(in1), get_aval(in2)
    if left.ndim != right.ndim or not left.size or not right.size:
        raise ArgumentValueError(
            f"{name}: expected arrays of as many dimensions and at least one element, got {left} and {right}; reshape "
            "them"
        )
    return in1, in2


def _parts(name: str, first: Sequence[int], second: Sequence[int], mode: str) -> tuple[list[int], list[int]]:
    """Returns where a mode's part of the full convolution starts along each dimension, and its lengths."""
    if mode not in ("full", "same", "valid"):
        raise ArgumentValueError(f"{name}: expected mode='full', 'same' or 'valid', got {mode!r}; choose one")
    pairs = list(zip(first, second, strict=True))
    if mode == "full":
        return [0] * len(pairs), [a + b - 1 for a, b in pairs]
    if mode == "same":
        return [(b - 1) // 2 for _, b in pairs], list(first)
    if any(a < b for a, b in pairs) and any(a > b for a, b in pairs):
        raise ArgumentValueError(
            f"{name}: expected one array inside of the other along all dimensions in mode 'valid', got the shapes "
            f"{tuple(first)} and {tuple(second)}; use mode='full'"
        )
    return [min(pair) - 1 for pair in pairs], [abs(a - b) + 1 for a, b in pairs]


def _direct(name: str, in1: Any, in2: Any, mode: str, precision: Any, late: int = 0) -> Any:
    shapes = get_aval(in1).shape, get_aval(in2).shape
    starts, lengths = _parts(name, *shapes, mode)
    if mode == "same":
        starts = [start + late * (1 - size % 2) for start, size in zip(starts, shapes[1], strict=True)]
    if not starts:
        return np.multiply(in1, in2)
    if get_aval(in1).size < get_aval(in2).size:
        in1, in2 = in2, in1
        shapes = shapes[::-1]
    padding = [
        (b - 1 - start, start + length - a) for a, b, start, length in zip(*shapes, starts, lengths, strict=True)
    ]
    kernel = np.flip(in2)[None, None]
    return ops.conv_general_dilated(in1[None, None], kernel, (1,) * len(starts), padding, precision=precision)[0, 0]


def _in_the_plane(
    name: str, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, precision: Any, late: int = 0
) -> Any:
    in1, in2 = _operands(name, in1, in2)
    if boundary not in _PADDINGS:
        raise ArgumentValueError(f"{name}: expected boundary='fill', 'wrap' or 'symm', got {boundary!r}; choose one")
    shapes = get_aval(in1).shape, get_aval(in2).shape
    if len(shapes[0]) != 2:
        raise ArgumentValueError(f"{name}: expected matrices, got {get_aval(in1)}; use {name.removesuffix('2d')}")
    is_zero = isinstance(fillvalue, bool | int | float | complex) and fillvalue == 0
    if mode == "valid" or (boundary == "fill" and is_zero):
        return _direct(name, in1, in2, mode, precision, late)
    starts, lengths = _parts(name, *shapes, mode)
    if mode == "same":
        starts = [start + late * (1 - size % 2) for start, size in zip(starts, shapes[1], strict=True)]
    widths = [(b - 1 - start, start + length - a) for a, b, start, length in zip(*shapes, starts, lengths, strict=True)]
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    padded = np.pad(in1, widths, _PADDINGS[boundary], **options)
    return _direct(name, padded, in2, "valid", precision)
