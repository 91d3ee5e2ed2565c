"""Window functions by SciPy's names: periodic ones, with known parameters, computed in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from lawful.core import ArgumentValueError, shorten

_Window = numpy.ndarray[Any, Any]

#: The coefficients of sums of cosines, whose signs alternate. Source: Heinzel, Rüdiger and Schilling (2002), "Spectrum
#: and spectral density estimation by the discrete Fourier transform", https://hdl.handle.net/11858/00-001M-0000-0013-557A-5.
_COSINES = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.5, 0.08),
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}
_ALIASES = {
    **dict.fromkeys(("han",), "hann"),
    **dict.fromkeys(("hamm", "ham"), "hamming"),
    **dict.fromkeys(("black", "blk"), "blackman"),
    **dict.fromkeys(("blackharr", "bkh"), "blackmanharris"),
    **dict.fromkeys(("nutl", "nut"), "nuttall"),
    **dict.fromkeys(("flat", "flt"), "flattop"),
    **dict.fromkeys(("box", "ones", "rect", "rectangular"), "boxcar"),
    **dict.fromkeys(("bart", "brt"), "bartlett"),
    **dict.fromkeys(("triang", "tri"), "triangle"),
    **dict.fromkeys(("parz", "par"), "parzen"),
    **dict.fromkeys(("bman", "bmn"), "bohman"),
    **dict.fromkeys(("brthan", "bth"), "barthann"),
    **dict.fromkeys(("halfcosine",), "cosine"),
    **dict.fromkeys(("sinc",), "lanczos"),
    **dict.fromkeys(("tuk",), "tukey"),
    **dict.fromkeys(("poisson",), "exponential"),
    **dict.fromkeys(("gauss", "gss"), "gaussian"),
    **dict.fromkeys(("ksr",), "kaiser"),
    **dict.fromkeys(("general gaussian", "general gauss", "general_gauss", "ggs"), "general_gaussian"),
    **dict.fromkeys(("general cosine",), "general_cosine"),
    **dict.fromkeys(("general hamming",), "general_hamming"),
}


def window(name: Any, size: int) -> _Window:
    """Returns a periodic window: the symmetric one of one more element, without its last.

    Args:
      name: the name, or a tuple of it and its parameters, or the parameter of ``"kaiser"``.
      size: how many elements.

    Raises:
      ArgumentValueError: there is no such window, or it takes other parameters.

    Source: ``scipy.signal.get_window``.
    """
    parts = name if isinstance(name, tuple) else (name,) if isinstance(name, str) else ("kaiser", name)
    called = _ALIASES.get(parts[0], parts[0]) if parts else None
    if called in _COSINES:
        called, parts = "general_cosine", (called, *parts[1:], _COSINES[called])
        known = len(parts) == 2
    else:
        known = called in _FUNCTIONS
    if not known or called is None:
        raise ArgumentValueError(
            f"window: expected a window of {', '.join(sorted({*_COSINES, *_FUNCTIONS}))}, with its parameters in a "
            f"tuple, got {shorten(name)}; give the elements as an array"
        )
    if size <= 1:
        return numpy.ones(size)
    try:
        values = _FUNCTIONS[called](numpy.arange(size + 1.0), size + 1, *parts[1:])
    except TypeError as error:
        raise ArgumentValueError(f"window: expected the parameters of {called!r}, got {shorten(name)}") from error
    return values[:-1]


# Of positions from 0 to size - 1.


def _centered(n: _Window, size: int) -> _Window:
    return numpy.linspace(-1.0, 1.0, size)


def _general_cosine(n: _Window, size: int, coefficients: Any) -> _Window:
    angle = numpy.linspace(-math.pi, math.pi, size)
    return numpy.sum([a * numpy.cos(k * angle) for k, a in enumerate(coefficients)], axis=0)


def _parzen(n: _Window, size: int) -> _Window:
    distance = numpy.abs(n - (size - 1) / 2) / (size / 2)
    inner = 1 - 6 * distance**2 * (1 - distance)
    return numpy.where(distance <= (size - 1) / 4 / (size / 2), inner, 2 * (1 - distance) ** 3)


def _bohman(n: _Window, size: int) -> _Window:
    x = numpy.abs(_centered(n, size))
    values = (1 - x) * numpy.cos(math.pi * x) + numpy.sin(math.pi * x) / math.pi
    values[[0, -1]] = 0
    return values


def _barthann(n: _Window, size: int) -> _Window:
    x = numpy.abs(n / (size - 1) - 0.5)
    return 0.62 - 0.48 * x + 0.38 * numpy.cos(2 * math.pi * x)


def _triangle(n: _Window, size: int) -> _Window:
    return 1 - numpy.abs(n - (size - 1) / 2) / ((size + size % 2) / 2)


def _tukey(n: _Window, size: int, alpha: float = 0.5) -> _Window:
    if alpha <= 0:
        return numpy.ones(size)
    from_end = numpy.minimum(n, size - 1 - n) / (min(alpha, 1.0) * (size - 1) / 2)
    return numpy.where(from_end < 1, 0.5 * (1 - numpy.cos(math.pi * from_end)), 1.0)


def _exponential(n: _Window, size: int, center: float | None = None, tau: float = 1.0) -> _Window:
    if center is not None:
        raise ArgumentValueError(f"window: expected no center of a periodic exponential window, got {center}")
    return numpy.exp(-numpy.abs(n - (size - 1) / 2) / tau)


def _general_gaussian(n: _Window, size: int, power: float, sigma: float) -> _Window:
    return numpy.exp(-0.5 * numpy.abs((n - (size - 1) / 2) / sigma) ** (2 * power))


_FUNCTIONS: dict[str, Callable[..., _Window]] = {
    "boxcar": lambda n, size: numpy.ones(size),
    "bartlett": lambda n, size: 1 - numpy.abs(_centered(n, size)),
    "triangle": _triangle,
    "parzen": _parzen,
    "bohman": _bohman,
    "barthann": _barthann,
    "cosine": lambda n, size: numpy.sin(math.pi / size * (n + 0.5)),
    "lanczos": lambda n, size: numpy.sinc(_centered(n, size)),
    "tukey": _tukey,
    "exponential": _exponential,
    "gaussian": lambda n, size, std: _general_gaussian(n, size, 1.0, std),
    "general_gaussian": _general_gaussian,
    "general_cosine": _general_cosine,
    "general_hamming": lambda n, size, alpha: _general_cosine(n, size, (alpha, 1 - alpha)),
    "kaiser": lambda n, size, beta: numpy.kaiser(size, beta),
}
