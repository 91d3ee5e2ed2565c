"""Overlapping segments of signals, and their Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval, is_complex
from lawful.ops import canonical_axis, static_integers
from lawful.signal._detrend import detrend
from lawful.signal._windows import window as window_named


class Segments(NamedTuple):
    """How a signal is divided into segments: their window, step and length of transforms."""

    window: Any
    size: int
    step: int
    transform: int


def segments(name: str, window: Any, nperseg: Any, noverlap: Any, nfft: Any, length: int) -> Segments:
    """Returns how a signal of a length is divided, by SciPy's arguments.

    Raises:
      ArgumentValueError: the segments are longer than the transforms, or do not advance, or the window does not fit.
    """
    if isinstance(window, str | tuple | float | int):
        size = min(256 if nperseg is None else static_integers(name, "nperseg", (nperseg,))[0], length)
        if size < 1:
            raise ArgumentValueError(f"{name}: expected segments of at least one element, got nperseg={nperseg}")
        values: Any = window_named(window, size)
    else:
        values = window
        shape = get_aval(values).shape
        if len(shape) != 1 or shape[0] > length or nperseg not in (None, *shape):
            raise ArgumentValueError(
                f"{name}: expected a window of one dimension and nperseg elements, at most {length} as the signal has, "
                f"got {get_aval(values)} and nperseg={nperseg}"
            )
        size = shape[0]
    return segments_of(name, values, size, noverlap, nfft)


def segments_of(name: str, window: Any, size: int, noverlap: Any, nfft: Any) -> Segments:
    """Returns the segments of a size: how many elements they share is checked, and the length of transforms."""
    overlap = size // 2 if noverlap is None else static_integers(name, "noverlap", (noverlap,))[0]
    transform = size if nfft is None else static_integers(name, "nfft", (nfft,))[0]
    if transform < size or not 0 <= overlap < size:
        raise ArgumentValueError(
            f"{name}: expected nfft of at least and noverlap of less than nperseg={size}, got nfft={transform} and "
            f"noverlap={overlap}"
        )
    return Segments(window, size, size - overlap, transform)


def extended(name: str, x: Any, boundary: Any, width: int) -> Any:
    """Returns an array with elements put before and after its last dimension.

    Raises:
      ArgumentValueError: there is no such boundary, or the array is too short to be reflected.
    """
    modes: dict[Any, dict[str, Any]] = {
        "even": {"mode": "reflect"},
        "odd": {"mode": "reflect", "reflect_type": "odd"},
        "constant": {"mode": "edge"},
        "zeros": {"mode": "constant"},
    }
    if boundary is None:
        return x
    if boundary not in modes:
        raise ArgumentValueError(f"{name}: expected a boundary of {', '.join(modes)} or None, got {boundary!r}")
    widths = [(0, 0)] * (get_aval(x).ndim - 1) + [(width, width)]
    return np.pad(x, widths, **modes[boundary])


def trend_remover(name: str, kind: Any, axis: int) -> Callable[[Any], Any]:
    """Returns the function that is applied to segments along their last dimension.

    Args:
      name: the function, for error messages.
      kind: False for none; the type of `detrend`; or a function of an array whose segments are along ``axis``.
      axis: the user's one, negative.
    """
    if not kind:
        return lambda x: x
    if not callable(kind):
        return lambda x: detrend(x, type=kind)

    def remove(x: Any) -> Any:
        return np.moveaxis(kind(np.moveaxis(x, -1, axis)), axis, -1)

    return remove


def transforms(x: Any, how: Segments, remove_trend: Callable[[Any], Any], onesided: bool) -> Any:
    """Returns the Fourier transforms of the segments, (…, segments, frequencies), of a signal of shape (…, n)."""
    count = (get_aval(x).shape[-1] - how.size) // how.step + 1
    positions = numpy.arange(count)[:, None] * how.step + numpy.arange(how.size)
    parts = remove_trend(x[..., positions])
    parts = parts * ops.convert_element_type(how.window, get_aval(parts).dtype)
    return (np.fft.rfft if onesided else np.fft.fft)(parts, how.transform)


def frequencies(fs: Any, how: Segments, onesided: bool, dtype: Any) -> Any:
    """Returns those of the transforms, of a real dtype."""
    size = how.transform
    numbers = np.fft.rfftfreq(size, 1 / size) if onesided else np.fft.fftfreq(size, 1 / size)
    return ops.convert_element_type(np.asarray(numbers) * fs / size, dtype)


def real_dtype(x: Any) -> Any:
    """Returns the dtype of the parts of a spectrum: float32 or float64."""
    return as_dtype("float32" if get_aval(x).dtype == numpy.complex64 else "float64")


def is_onesided(name: str, asked: Any, *signals: Any) -> bool:
    """Whether the spectra have nonnegative frequencies alone; those of complex signals have all."""
    if not isinstance(asked, bool | numpy.bool_):
        raise ArgumentTypeError(f"{name}: expected True or False as whether a spectrum is one-sided, got {asked!r}")
    return bool(asked) and not any([is_complex(get_aval(x).dtype) for x in signals])


def negative_axis(name: str, axis: int, *signals: Any) -> int:
    """Returns a dimension of signals, counted from the last.

    Raises:
      AxisError: one of them has no such dimension.
    """
    if axis >= 0:
        axis = canonical_axis(name, axis, get_aval(signals[0]).ndim) - get_aval(signals[0]).ndim
    for x in signals:
        canonical_axis(name, axis, get_aval(x).ndim)
    return axis
