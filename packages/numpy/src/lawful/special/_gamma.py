"""The gamma function and its logarithmic derivative, of real and of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy

from lawful import ops
from lawful.core import get_aval
from lawful.special._arguments import inexact, silent


@silent
def gamma(x: Any) -> Any:
    """Returns the gamma function.

    Args:
      x: real or complex numbers. A complex result is NaN at the poles: at 0 and at negative integers.

    >>> gamma(numpy.array([-0.5, 5.0])).round(6), gamma(1j).round(6)
    (array([-3.544908, 24.      ]), np.complex128(-0.15495-0.498016j))

    Law: ``gamma(x + 1) = x gamma(x)``. Source: ``scipy.special.gamma``, ``jax.scipy.special.gamma``.
    """
    if get_aval(x).dtype.kind != "c":
        return ops.gamma(x)
    x = inexact("gamma", x)
    return _nan_at_poles(x, ops.exp(ops.loggamma(x)))


@silent
def digamma(x: Any) -> Any:
    """Returns the derivative of the logarithm of the gamma function.

    Args:
      x: real or complex numbers. A complex result is NaN at the poles: at 0 and at negative integers.

    >>> digamma(numpy.array([-0.5, 5.0])).round(6), digamma(1j).round(6)
    (array([0.03649 , 1.506118]), np.complex128(0.09465+2.076674j))

    Source: ``scipy.special.digamma``, ``jax.scipy.special.digamma``.
    """
    if get_aval(x).dtype.kind != "c":
        return ops.digamma(x)
    x = inexact("digamma", x)
    re, im = ops.real(x), ops.imag(x)
    parts = [part.bind(re, im, order=1) for part in (ops.loggamma_real_p, ops.loggamma_imag_p)]
    return _nan_at_poles(x, ops.complex(*parts))


def _nan_at_poles(x: Any, out: Any) -> Any:
    re = ops.real(x)
    is_pole = ops.bitwise_and(ops.eq(ops.imag(x), 0), ops.bitwise_and(ops.le(re, 0), ops.eq(re, ops.floor(re))))
    return ops.where(is_pole, complex(numpy.nan, numpy.nan), out)
