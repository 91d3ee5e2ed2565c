"""Discrete Fourier transforms, with the names, arguments and conventions of ``numpy.fft``.

>>> import numpy
>>> from lawful.autodiff import grad
>>> signal = numpy.array([1.0, 2.0, 4.0, 8.0])
>>> irfft(rfft(signal), 4)
array([1., 2., 4., 8.])
>>> grad(lambda x: (rfft(x)[1] * 1j).real)(signal)
array([ 0.,  1.,  0., -1.])
"""

import numpy as _numpy
from lawful.numpy.fft._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from lawful.numpy.fft._transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from lawful.ops import register_numpy_functions as _register_numpy_functions

__all__ = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]

_register_numpy_functions({getattr(_numpy.fft, name): globals()[name] for name in __all__})
