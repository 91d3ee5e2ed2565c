"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axis, static_integers
from lawful.signal._segments import (
    extended,
    frequencies,
    is_onesided,
    negative_axis,
    real_dtype,
    segments,
    segments_of,
    transforms,
    trend_remover,
)
from lawful.signal._windows import window as window_named


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Any, Any, Any]:
    """Returns the Fourier transforms of overlapping segments of signals.

    Args:
      x: an array; integers become floats.
      fs: how many elements there are in a unit of time.
      window: the factors of the elements of a segment: an array, a name of ``scipy.signal.get_window``, or a tuple of
        a name and parameters.
      nperseg: the length of a segment, at most that of the signal; by default that of the window, or 256.
      noverlap: how many elements neighbours share; half of them by default.
      nfft: the length of the transforms, of segments padded with zeros; ``nperseg`` by default.
      detrend: what is removed from a segment: the type of `detrend`, or a function; False for nothing.
      return_onesided: whether a real signal has nonnegative frequencies alone.
      boundary: how the signal goes on at its ends, by half a segment: ``"even"``, ``"odd"``, ``"constant"``,
        ``"zeros"``, or None for not at all.
      padded: whether zeros are put after it to make the last segment full, rather than to leave it out.
      axis: the dimension.

    Returns:
      The frequencies; the times of the middles of segments; and the transforms, with the frequencies along ``axis`` and
      the segments along the last dimension.

    Raises:
      ArgumentValueError: the segments, the window or the boundary do not fit.
      AxisError: there is no such dimension.

    Law: ``istft(stft(x)[2])[1]`` begins with x.

    >>> stft(np.array([1.0, 2.0, 3.0, 4.0]), nperseg=2, window="boxcar", boundary=None, noverlap=0)[2]
    array([[ 1.5+0.j,  3.5+0.j],
           [-0.5+0.j, -0.5+0.j]])

    Source: ``scipy.signal.stft``.
    """
    [x] = inexact("stft", x, linear_algebra=False)
    axis = negative_axis("stft", axis, x)
    onesided = is_onesided("stft", return_onesided, x)
    x = np.moveaxis(x, axis, -1)
    how = segments("stft", window, nperseg, noverlap, nfft, get_aval(x).shape[-1])
    x = extended("stft", x, boundary, how.size // 2)
    if padded:
        missing = -(get_aval(x).shape[-1] - how.size) % how.step
        x = np.pad(x, [(0, 0)] * (get_aval(x).ndim - 1) + [(0, missing)])
    spectra = transforms(x, how, trend_remover("stft", detrend, axis), onesided)
    real = real_dtype(spectra)
    spectra = spectra / ops.convert_element_type(np.sum(how.window), real)
    starts = numpy.arange(get_aval(spectra).shape[-2]) * how.step + (how.size / 2 if boundary is None else 0.0)
    times = ops.convert_element_type(np.asarray(starts) / fs, real)
    spectra = np.moveaxis(spectra, -1, axis - 1)
    return frequencies(fs, how, onesided, real), times, spectra


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Any, Any]:
    """Returns the inverse of `stft`: the signals with the least squares of differences of transforms.

    Args:
      Zxx: the transforms.
      fs: as in `stft`.
      window: the same; its elements have to be known or traced, but as many as ``nperseg``.
      nperseg: the length of a segment; by default the even one that the frequencies tell.
      noverlap: as in `stft`.
      nfft: the length of the transforms; ``nperseg`` by default, or the odd one that fits it.
      input_onesided: whether there are nonnegative frequencies alone, so that the signal is real.
      boundary: whether half a segment at each end is left out, which `stft` put there.
      time_axis: the dimension of segments.
      freq_axis: that of frequencies.

    Returns:
      The times, and the signal along the dimension of segments.

    Raises:
      ArgumentValueError: the dimensions are the same one, or the segments or the window do not fit.
      AxisError: there is no such dimension.

    >>> istft(stft(np.arange(4.0), nperseg=2)[2])[1]
    array([0., 1., 2., 3.])

    Source: ``scipy.signal.istft``; Griffin and Lim (1984), "Signal estimation from modified short-time Fourier
    transform".
    """
    [Zxx] = inexact("istft", Zxx, linear_algebra=False)
    shape = get_aval(Zxx).shape
    if len(shape) < 2:
        raise ArgumentValueError(f"istft: expected dimensions of segments and frequencies, got {get_aval(Zxx)}")
    time, frequency = (canonical_axis("istft", axis, len(shape)) for axis in (time_axis, freq_axis))
    if time == frequency:
        raise ArgumentValueError(f"istft: expected two dimensions, got {time_axis} as both time_axis and freq_axis")
    count, even = shape[time], 2 * (shape[frequency] - 1) if input_onesided else shape[frequency]
    size = even if nperseg is None else static_integers("istft", "nperseg", (nperseg,))[0]
    if size < 1:
        raise ArgumentValueError(f"istft: expected segments of at least one element, got nperseg={size}")
    if nfft is None:
        nfft = size if input_onesided and size == even + 1 else even
    values = window_named(window, size) if isinstance(window, str | tuple | float | int) else window
    if get_aval(values).shape != (size,):
        raise ArgumentValueError(f"istft: expected a window of {size} elements, got {get_aval(values)}")
    how = segments_of("istft", values, size, noverlap, nfft)
    spectra = np.moveaxis(Zxx, (time, frequency), (-2, -1))
    parts = (np.fft.irfft if input_onesided else np.fft.ifft)(spectra, how.transform)[..., : how.size]
    real = np.finfo(get_aval(parts).dtype).dtype
    factors = ops.convert_element_type(how.window, real)
    parts = parts * (factors * np.sum(factors))
    positions = numpy.arange(count)[:, None] * how.step + numpy.arange(how.size)
    length = how.size + (count - 1) * how.step
    x = np.zeros((*get_aval(parts).shape[:-2], length), get_aval(parts).dtype)
    x = ops.at(x)[..., positions].add(parts)
    squares = np.broadcast_to(factors**2, positions.shape)
    norm = ops.at(np.zeros(length, real))[positions].add(squares)
    if boundary:
        cut = how.size // 2
        x, norm = x[..., cut : length - cut], norm[cut : length - cut]
    x = x / np.where(norm > 1e-10, norm, ops.convert_element_type(1.0, real))
    times = ops.convert_element_type(np.arange(get_aval(x).shape[-1]) / fs, real)
    return times, np.moveaxis(x, -1, time - (frequency < time))
