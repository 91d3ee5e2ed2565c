"""Vector quantization with the names and arguments of ``scipy.cluster.vq``."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy import linalg
from lawful.numpy.linalg._matrices import inexact

__all__ = ["vq"]


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """Returns for each observation the nearest code, and its Euclidean distance.

    Args:
      obs: the observations, of shape (n, d), or (n,) for numbers.
      code_book: the codes, of shape (k, d) or (k,); integers become floats, and the dtypes are promoted.
      check_finite: has no effect.

    Returns:
      The positions in the code book, the first of several, and the distances: both of shape (n,).

    Raises:
      ArgumentValueError: the shapes do not fit, or there is no code.

    >>> vq(np.array([[1.0, 1.0], [4.0, 3.0]]), np.array([[0.0, 0.0], [4.0, 4.0]]))
    (array([0, 1]), array([1.41421356, 1.        ]))

    Source: ``scipy.cluster.vq.vq``.
    """
    obs, code_book = inexact("vq", obs, code_book, linear_algebra=False)
    observed, codes = get_aval(obs), get_aval(code_book)
    if observed.ndim != codes.ndim or observed.ndim not in (1, 2) or observed.shape[1:] != codes.shape[1:]:
        raise ArgumentValueError(f"vq: expected observations and codes of one length, got {observed} and {codes}")
    if not codes.size:
        raise ArgumentValueError(f"vq: expected at least one code, got {codes}")
    if observed.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    differences = obs[:, None] - code_book
    nearest = np.argmin(np.sum(np.real(differences * np.conj(differences)), axis=-1), axis=-1)
    return nearest, linalg.norm(obs - code_book[nearest], axis=-1)
