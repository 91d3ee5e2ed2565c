"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np
from lawful import special


def logpdf(x: Any, alpha: Any) -> Any:
    """Returns the logarithm of the density.

    Args:
      x: probabilities along the first dimension, which add up to 1.
      alpha: the concentrations, a vector.

    >>> round(float(logpdf(np.array([0.2, 0.8]), np.array([2.0, 3.0]))), 6)
    0.429182
    """
    x, alpha = np.asarray(x), np.asarray(alpha)
    norm = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return norm + np.sum(special.xlogy(alpha - 1.0, np.transpose(x)), axis=-1)


def pdf(x: Any, alpha: Any) -> Any:
    """Returns the density."""
    return np.exp(logpdf(x, alpha))


#: The functions by name.
functions = {"logpdf": logpdf, "pdf": pdf}
