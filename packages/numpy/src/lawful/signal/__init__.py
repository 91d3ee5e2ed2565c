"""Convolution and spectra with the names and arguments of ``scipy.signal``.

>>> import lawful.numpy as np
>>> from lawful.signal import convolve
>>> convolve(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
array([[1., 3., 2.]])
"""

from lawful.signal._convolution import convolve, convolve2d, correlate, correlate2d, fftconvolve
from lawful.signal._detrend import detrend
from lawful.signal._short_time import istft, stft
from lawful.signal._spectra import csd, welch

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]
