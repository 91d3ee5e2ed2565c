"""Spectral densities by Welch's method."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.signal._segments import (
    frequencies,
    is_onesided,
    negative_axis,
    real_dtype,
    segments,
    transforms,
    trend_remover,
)


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Returns the cross spectral density of signals: averages over segments of the products of their transforms.

    Args:
      x: an array; integers become floats.
      y: another one, the shorter of them padded with zeros; ``x`` if None. Other dimensions broadcast.
      fs: as in `stft`.
      window: the same.
      nperseg: the same.
      noverlap: the same.
      nfft: the same.
      detrend: the same.
      return_onesided: the same; the density of a frequency is then that of its negative too.
      scaling: ``"density"`` per unit of frequency, or ``"spectrum"``.
      axis: the dimension.
      average: ``"mean"``, or ``"median"`` divided by its bias.

    Returns:
      The frequencies and the densities: complex, or real where ``y`` is None.

    Raises:
      ArgumentValueError: the segments or the window do not fit, there is no such scaling or average, or other
        dimensions do not broadcast.
      AxisError: there is no such dimension.

    >>> csd(np.array([1.0, 0.0]), np.array([0.0, 1.0]), window="boxcar", detrend=False)[1]
    array([ 0.5+0.j, -0.5+0.j])

    Source: ``scipy.signal.csd``; Welch (1967), "The use of the fast Fourier transform for the estimation of power
    spectra"; Allen et al. (2012), "FINDCHIRP", appendix B, for the bias of the median.
    """
    return _density("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """Returns the power spectral density of signals; arguments, results and errors are those of `csd` of one signal.

    Law: of one segment, with a boxcar, the sum of the densities times the distance of frequencies is the mean square.

    >>> welch(np.array([1.0, 0.0]), window="boxcar", detrend=False)
    (array([0. , 0.5]), array([0.5, 0.5]))

    Source: ``scipy.signal.welch``.
    """
    return _density(
        "welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _density(
    name: str,
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: Any,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Any, Any]:
    if scaling not in ("density", "spectrum") or average not in ("mean", "median"):
        raise ArgumentValueError(
            f"{name}: expected scaling='density' or 'spectrum' and average='mean' or 'median', got {scaling!r} and "
            f"{average!r}"
        )
    signals = inexact(name, x, *([] if y is None else [y]), linear_algebra=False)
    axis = negative_axis(name, axis, *signals)
    onesided = is_onesided(name, return_onesided, *signals)
    signals = [np.moveaxis(signal, axis, -1) for signal in signals]
    length = max([get_aval(signal).shape[-1] for signal in signals])
    how = segments(name, window, nperseg, noverlap, nfft, length)
    remove_trend = trend_remover(name, detrend, axis)
    spectra = []
    for signal in signals:
        aval = get_aval(signal)
        padded = np.pad(signal, [(0, 0)] * (aval.ndim - 1) + [(0, length - aval.shape[-1])])
        spectra.append(transforms(padded, how, remove_trend, onesided))
    real = real_dtype(spectra[0])
    if len(spectra) == 1:
        density = np.square(np.real(spectra[0])) + np.square(np.imag(spectra[0]))
    else:
        density = np.conj(spectra[0]) * spectra[1]
    factors = how.window
    total = np.sum(np.square(factors)) * fs if scaling == "density" else np.square(np.sum(factors))
    both = numpy.ones(get_aval(density).shape[-1])
    if onesided:
        # The others are their own negatives.
        both[1 : None if how.transform % 2 else -1] = 2
    density = density * ops.convert_element_type(both / total, real)
    density = _average(density, average)
    return frequencies(fs, how, onesided, real), np.moveaxis(density, -1, axis)


def _average(density: Any, average: str) -> Any:
    """Returns the mean, or the median without its bias, over the segments, which are before the last dimension."""
    if average == "mean":
        return np.mean(density, axis=-2)
    count = get_aval(density).shape[-2]
    even = 2.0 * numpy.arange(1, (count - 1) // 2 + 1)
    bias = 1 + float(numpy.sum(1 / (even + 1) - 1 / even))
    if get_aval(density).dtype.kind != "c":
        return np.median(density, axis=-2) / bias
    return ops.complex(np.median(np.real(density), axis=-2), np.median(np.imag(density), axis=-2)) / bias
