"""Functions of SciPy's under other names, or that are made of lawful's."""

from __future__ import annotations

import math
from typing import Any

import lawful.numpy as np
from lawful import special
from lawful.autograd._primitive.function import primitive
from lawful.autograd._primitive.rules import defjvp
from lawful.autograd._scipy.library import scipy_function


def psi(x: Any) -> Any:
    """Returns the digamma function."""
    return special.digamma(x)


def rgamma(x: Any) -> Any:
    """Returns one over the gamma function; 0 at its poles, where it has the derivative of the limit.

    >>> rgamma(np.array([-1.0, 0.5]))
    array([-0.        ,  0.56418958])
    """
    x = np.asarray(x)
    # 1 / Γ(x) = sin(πx) Γ(1 - x) / π, which has no poles below 1.
    above = np.greater(x, 0.5)
    reflected = np.sin(math.pi * (x - np.round(x))) * (1.0 - 2.0 * (np.round(x) % 2)) / math.pi
    below = reflected * special.gamma(1.0 - np.where(above, 0.0, x))
    return np.where(above, np.exp(-special.gammaln(np.where(above, x, 1.0))), below)


def erfcinv(x: Any) -> Any:
    """Returns the inverse of ``erfc``."""
    return -special.ndtri(np.asarray(x) / 2.0) / math.sqrt(2.0)


_complex_erf = primitive(scipy_function("special", "erf"))
defjvp(_complex_erf, lambda g, ans, x: g * (2.0 / math.sqrt(math.pi)) * np.exp(-(x * x)))


def erf(x: Any) -> Any:
    """Returns the error function; that of complex numbers is SciPy's."""
    return _complex_erf(x) if np.iscomplexobj(x) else special.erf(x)


def erfc(x: Any) -> Any:
    """Returns one minus the error function; of a complex number it is just that."""
    return 1.0 - _complex_erf(x) if np.iscomplexobj(x) else special.erfc(x)


#: The functions by name.
functions = {"psi": psi, "rgamma": rgamma, "erfcinv": erfcinv, "erf": erf, "erfc": erfc}
