"""The transforms of one, two or any number of dimensions: each resizes, transforms and scales.

``norm`` selects the transforms that divide by the number n of terms: the inverse ones (``"backward"``, the default),
the others (``"forward"``), or both by the square root of n (``"ortho"``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._manipulation.shape import moveaxis
from lawful.ops import AxisError, canonical_axes, canonical_axis, static_integers

Sizes = list[int]

_HALF = numpy.dtype(numpy.float16)
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


# Shared parts


def _transform(name: str, a: Any, fft_type: str, sizes: Sequence[int], axes: Sequence[int], norm: Any) -> Any:
    """Returns one transform over different dimensions, which are sliced or padded with zeros to the given sizes.

    Args:
      name: the function, for error messages.
      a: an array.
      fft_type: that of `lawful.ops.fft`.
      sizes: the lengths of the complex or real signal.
      axes: the dimensions, the last one that of the real transform.
      norm: which transforms divide by the number of terms.
    """
    dims = canonical_axes(name, axes, get_aval(a).ndim)
    for size in sizes:
        if size < 1:
            raise ArgumentValueError(
                f"{name}: expected at least one data point, got a transform of {size}; give a length of at least 1"
            )
    scale = _scale(name, fft_type[0] == "I", math.prod(sizes), norm)
    resized = list(sizes)
    if fft_type == "IRFFT":
        resized[-1] = sizes[-1] // 2 + 1
    last = range(-len(dims), 0)
    x = moveaxis(_resize(a, resized, dims), dims, last)
    out = moveaxis(ops.fft(x, fft_type, sizes), last, dims)
    out = out if scale == 1 else _times(out, scale)
    # NumPy's real result has the precision of the argument; after transforms of other dimensions that is complex64.
    is_half = fft_type == "IRFFT" and get_aval(a).dtype == _HALF and len(dims) == 1
    return ops.convert_element_type(out, _HALF) if is_half else out


def _times(x: Any, scale: float) -> Any:
    """Returns numbers times a real one; complex ones by parts, so that infinity times zero does not occur."""
    if get_aval(x).dtype.kind != "c":
        return ops.mul(x, scale)
    return ops.complex(ops.mul(ops.real(x), scale), ops.mul(ops.imag(x), scale))


def _scale(name: str, inverse: bool, size: int, norm: Any) -> float:
    """Returns the scale of the result of `lawful.ops.fft`, which divides inverse transforms only."""
    if norm not in _SWAPPED:
        raise ArgumentValueError(
            f"{name}: expected a norm of 'backward', 'ortho' or 'forward', got {norm!r}; leave it out for 'backward'"
        )
    if norm in (None, "backward"):
        return 1
    power = 0.5 if norm == "ortho" else 1.0
    return float(size**power if inverse else size**-power)


def _swap(name: str, norm: Any) -> str:
    _scale(name, False, 1, norm)
    return _SWAPPED[norm]


def _resize(a: Any, sizes: Sequence[int], axes: Sequence[int]) -> Any:
    """Returns an array with dimensions sliced or padded at their ends."""
    aval = get_aval(a)
    config = [(0, 0, 0)] * aval.ndim
    for size, axis in zip(sizes, axes, strict=True):
        config[axis] = (0, size - aval.shape[axis], 0)
    return ops.pad(a, aval.dtype.type(0), config)


def _along(name: str, a: Any, fft_type: str, n: Any, axis: Any, norm: Any) -> Any:
    """Returns the transform of one dimension."""
    aval = get_aval(a)
    axis = canonical_axis(name, axis, aval.ndim)
    if n is None:
        n = 2 * (aval.shape[axis] - 1) if fft_type == "IRFFT" else aval.shape[axis]
    (size,) = static_integers(name, "n", (n,))
    return _transform(name, a, fft_type, (size,), (axis,), norm)


def _over(name: str, a: Any, fft_type: str, s: Any, axes: Any, norm: Any) -> Any:
    """Returns the transform over several dimensions; repeated dimensions are transformed repeatedly."""
    aval = get_aval(a)
    sizes, dims = _sizes_and_axes(name, aval.shape, s, axes, fft_type == "IRFFT")
    if not dims and "R" in fft_type:
        raise AxisError(f"{name}: expected at least one axis, got none; name the axis of the real transform")
    if not dims:
        return ops.convert_element_type(a, aval.dtype)
    if len(set(dims)) == len(dims):
        return _transform(name, a, fft_type, sizes, dims, norm)
    complex_type = "IFFT" if fft_type[0] == "I" else "FFT"
    steps = [(complex_type, size, axis) for size, axis in zip(sizes, dims, strict=True)]
    steps[-1] = (fft_type, sizes[-1], dims[-1])
    for step_type, size, axis in steps if fft_type == "IRFFT" else reversed(steps):
        a = _transform(name, a, step_type, (size,), (axis,), norm)
    return a


def _sizes_and_axes(name: str, shape: tuple[int, ...], s: Any, axes: Any, inverse_real: bool) -> tuple[Sizes, Sizes]:
    """Returns the length of each transform and its dimension, from NumPy's arguments."""
    ndim = len(shape)
    given = None if s is None else list(s)
    if axes is None:
        if given is not None:
            _deprecated(f"{name}: expected axes where s is given, got None; name the last {len(given)} axes")
        dims = list(range(ndim) if given is None else range(ndim - len(given), ndim))
        if dims and dims[0] < 0:
            raise AxisError(f"{name}: expected at most {ndim} sizes for the shape {shape}, got s={s}; leave some out")
    else:
        dims = [canonical_axis(name, axis, ndim) for axis in static_integers(name, "axes", axes)]
    lengths = [shape[axis] for axis in dims]
    if inverse_real and lengths and (given is None or given[-1] is None):
        lengths[-1] = 2 * (lengths[-1] - 1)
    if given is None:
        return lengths, dims
    if len(given) != len(dims):
        raise ArgumentValueError(
            f"{name}: expected a size for each of {len(dims)} axes, got s={tuple(given)}; give as many"
        )
    if None in given:
        _deprecated(f"{name}: expected integers as s, got s={tuple(given)}; leave s out, or write the lengths")
    # -1 means the whole dimension.
    defaults = {None: lengths, -1: [shape[axis] for axis in dims]}
    wanted = [defaults[size][i] if size in (None, -1) else size for i, size in enumerate(given)]
    return list(static_integers(name, "s", wanted)), dims


def _deprecated(text: str) -> None:
    warnings.warn(f"{text} (deprecated in NumPy 2.0)", DeprecationWarning, stacklevel=5)


# One dimension


@eager(numpy.fft.fft)
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the discrete Fourier transform of one dimension, ``sum(a[m] * exp(-2j * pi * m * k / n))``.

    Args:
      a: an array.
      n: the length to which the dimension is sliced or padded with zeros; by default its own.
      axis: the dimension.
      norm: ``'backward'``, ``'ortho'`` or ``'forward'``: whether the result is divided by 1, the square root of n or n.
      out: None only.

    Raises:
      ArgumentValueError: ``n`` is less than 1, or there is no such ``norm``.
      AxisError: there is no such dimension.

    Laws: ``ifft(fft(a)) = a``; linear.

    >>> fft(numpy.array([1.0, 0.0, -1.0, 0.0]))
    array([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])

    Source: ``numpy.fft.fft``.
    """
    return _along("fft", a, "FFT", n, axis, norm)


@eager(numpy.fft.ifft)
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the inverse of :func:`fft`, which has the same arguments.

    >>> ifft(numpy.array([0.0, 2.0, 0.0, 2.0]))
    array([ 1.+0.j,  0.+0.j, -1.+0.j,  0.+0.j])

    Source: ``numpy.fft.ifft``.
    """
    return _along("ifft", a, "IFFT", n, axis, norm)


@eager(numpy.fft.rfft)
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the first ``n // 2 + 1`` elements of :func:`fft` of a real array: the others are their conjugates.

    Raises:
      ArgumentTypeError: the array is complex; and as `fft`.

    >>> rfft(numpy.array([1.0, 0.0, -1.0, 0.0]))
    array([0.+0.j, 2.+0.j, 0.+0.j])

    Source: ``numpy.fft.rfft``.
    """
    return _along("rfft", a, "RFFT", n, axis, norm)


@eager(numpy.fft.irfft)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the inverse of :func:`rfft`.

    Args:
      a: an array.
      n: the length of the result; by default the even one, ``2 * (m - 1)`` for a dimension of length m.
      axis: the dimension.
      norm: as in `fft`.
      out: None only.

    The imaginary parts of the first element, and of the last one where n is even, are ignored.

    >>> irfft(numpy.array([0.0, 2.0, 0.0]))
    array([ 1.,  0., -1.,  0.])

    Source: ``numpy.fft.irfft``.
    """
    return _along("irfft", a, "IRFFT", n, axis, norm)


@eager(numpy.fft.hfft)
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the :func:`fft`, which is real, of a signal that has the conjugates of these elements as its others.

    Args:
      a: an array: the first ``n // 2 + 1`` elements of the signal.
      n: the length of the result; by default the even one.
      axis: the dimension.
      norm: as in `fft`.
      out: None only.

    >>> hfft(numpy.array([1.0, 1.0j]))
    array([1., 1.])

    Source: ``numpy.fft.hfft``.
    """
    norm = _swap("hfft", norm)
    return _along("hfft", ops.conj(a), "IRFFT", n, axis, norm)


@eager(numpy.fft.ihfft)
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Returns the inverse of :func:`hfft`, of a real array.

    >>> ihfft(numpy.array([1.0, 1.0]))
    array([1.-0.j, 0.-0.j])

    Source: ``numpy.fft.ihfft``.
    """
    return ops.conj(_along("ihfft", a, "RFFT", n, axis, _swap("ihfft", norm)))


# Several dimensions


@eager(numpy.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Returns the discrete Fourier transform of several dimensions.

    Args:
      a: an array.
      s: for each dimension the length to which it is sliced or padded with zeros, -1 for its own.
      axes: the dimensions; all by default.
      norm: as in `fft`.
      out: None only.

    Raises:
      ArgumentValueError: a length is less than 1, there are not as many as dimensions, or there is no such ``norm``.
      AxisError: there is no such dimension.

    >>> fftn(numpy.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])

    Source: ``numpy.fft.fftn``.
    """
    return _over("fftn", a, "FFT", s, axes, norm)


@eager(numpy.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Returns the inverse of :func:`fftn`, which has the same arguments.

    >>> ifftn(numpy.ones((2, 2)))
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])

    Source: ``numpy.fft.ifftn``.
    """
    return _over("ifftn", a, "IFFT", s, axes, norm)


@eager(numpy.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Returns :func:`rfft` of the last of several dimensions and :func:`fft` of the others; arguments as `fftn`.

    Raises:
      ArgumentTypeError: the array is complex.
      AxisError: there is no dimension; and as `fftn`.

    >>> rfftn(numpy.ones((2, 2, 3)), axes=(0, 2)).shape
    (2, 2, 2)

    Source: ``numpy.fft.rfftn``.
    """
    return _over("rfftn", a, "RFFT", s, axes, norm)


@eager(numpy.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Returns the inverse of :func:`rfftn`; ``s`` is the shape of the result.

    >>> irfftn(rfftn(numpy.ones((2, 3))), (2, 3), (0, 1))
    array([[1., 1., 1.],
           [1., 1., 1.]])

    Source: ``numpy.fft.irfftn``.
    """
    return _over("irfftn", a, "IRFFT", s, axes, norm)


@eager(numpy.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Returns :func:`fftn` of the last two dimensions.

    >>> fft2(numpy.ones((5, 2, 2)))[0]
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])

    Source: ``numpy.fft.fft2``.
    """
    return _over("fft2", a, "FFT", s, axes, norm)


@eager(numpy.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Returns :func:`ifftn` of the last two dimensions.

    >>> ifft2(numpy.ones((2, 2)))
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])

    Source: ``numpy.fft.ifft2``.
    """
    return _over("ifft2", a, "IFFT", s, axes, norm)


@eager(numpy.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Returns :func:`rfftn` of the last two dimensions.

    >>> rfft2(numpy.ones((5, 2, 3))).shape
    (5, 2, 2)

    Source: ``numpy.fft.rfft2``.
    """
    return _over("rfft2", a, "RFFT", s, axes, norm)


@eager(numpy.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Returns :func:`irfftn` of the last two dimensions.

    >>> irfft2(numpy.ones((5, 2, 3))).shape
    (5, 2, 4)

    Source: ``numpy.fft.irfft2``.
    """
    return _over("irfft2", a, "IRFFT", s, axes, norm)
