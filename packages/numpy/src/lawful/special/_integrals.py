"""Integrals of complex numbers, and functions that return two integrals."""

from __future__ import annotations

import math
from typing import Any

from lawful import ops
from lawful.core import get_aval
from lawful.special._arguments import floats, inexact, silent


@silent
def sici(x: Any) -> tuple[Any, Any]:
    """Returns the sine and the cosine integral.

    That is the integral of ``sin(t) / t`` from 0 to ``x``, and ``γ + log(|x|)`` plus that of ``(cos(t) - 1) / t``,
    which is NaN at -∞ as in SciPy.

    >>> sici(1.0)
    (np.float64(0.94608307036718...), np.float64(0.33740392290096...))

    Source: ``scipy.special.sici``, ``jax.scipy.special.sici``.
    """
    (x,) = floats("sici", x)
    return ops.sine_integral(x), ops.where(ops.eq(x, -math.inf), math.nan, ops.cosine_integral(x))


@silent
def fresnel(x: Any) -> tuple[Any, Any]:
    """Returns the integrals of ``sin(π t² / 2)`` and of ``cos(π t² / 2)`` from 0 to ``x``.

    >>> fresnel(1.0)
    (np.float64(0.43825914739035...), np.float64(0.77989340037682...))

    Source: ``scipy.special.fresnel``, ``jax.scipy.special.fresnel``.
    """
    (x,) = floats("fresnel", x)
    return ops.fresnel_sine(x), ops.fresnel_cosine(x)


@silent
def erfcx(x: Any) -> Any:
    """Returns ``exp(x²) erfc(x)`` of real or complex numbers, also where the exponential overflows.

    >>> erfcx(1e10), erfcx(1j)
    (np.float64(5.64189583547756...e-11), np.complex128(0.36787944117144...-0.60715770584139...j))

    Source: ``scipy.special.erfcx``, ``jax.scipy.special.erfcx``.
    """
    x = inexact("erfcx", x)
    if get_aval(x).dtype.kind != "c":
        return ops.erfcx(x)
    return ops.wofz(ops.complex(ops.neg(ops.imag(x)), ops.real(x)))
