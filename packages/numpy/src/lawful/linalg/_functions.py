"""Functions of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import jvp, stop_gradient
from lawful.control_flow import cond, fori_loop
from lawful.core import ArgumentValueError, Tracer, get_aval
from lawful.numpy import linalg
from lawful.special._arguments import inexact, silent

#: The coefficients of the numerator of the Padé approximant of exp of order 13, the constant one first. They are
#: divided by a power of two, between the least and the largest: cotangents are multiplied and divided by them.
_COEFFICIENTS = [math.factorial(26 - k) // (math.factorial(13 - k) * math.factorial(k)) / 2.0**40 for k in range(14)]
#: Up to which norm the approximant of order 13 is exact to float64, from Higham (2005), table 2.3.
_THETA_13 = 5.371920351148152


@silent
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """Returns the exponentials of matrices.

    Args:
      A: an array of shape (…, n, n).
      upper_triangular: that the matrices are upper triangular, which changes nothing here.
      max_squarings: how often an approximant is squared at most; larger matrices give NaN.

    Raises:
      ArgumentValueError: the matrices are not square.

    >>> expm(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])

    Source: ``scipy.linalg.expm``; Higham (2005), "The scaling and squaring method for the matrix exponential".
    """
    A = inexact("expm", A)
    shape = get_aval(A).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ArgumentValueError(f"expm: expected square matrices, got {get_aval(A)}")
    dtype = get_aval(A).dtype
    real = np.finfo(dtype).dtype
    norm = np.max(np.sum(np.abs(stop_gradient(A)), axis=-2), axis=-1, initial=0)
    needed = np.ceil(np.log2(np.maximum(norm / _THETA_13, 1)))
    squarings = np.where(np.isfinite(needed), np.minimum(needed, max_squarings), 0)
    scaled = A / (2.0**squarings)[..., None, None].astype(dtype)
    even, odd = _halves(scaled)
    result = linalg.solve(even - odd, even + odd)

    result = _squared(result, squarings, max_squarings)
    fits = (np.isfinite(needed) & (needed <= max_squarings))[..., None, None]
    return np.where(fits, result, numpy.array(math.nan, real)).astype(dtype)


def _squared(x: Any, counts: Any, most: int) -> Any:
    """Returns each matrix squared some times, at most ``most``."""

    def square(i: Any, x: Any) -> Any:
        return np.where((i < counts)[..., None, None], x @ x, x)

    known = counts.concrete() if isinstance(counts, Tracer) else counts
    if known is not None:
        for i in range(int(numpy.max(known, initial=0))):
            x = square(i, x)
        return x

    def step(i: Any, x: Any) -> Any:  # without a product where nothing is squared
        return cond(np.any(i < counts), square, lambda i, x: x, i, x)

    return fori_loop(0, most, step, x) if most else x


def _halves(a: Any) -> tuple[Any, Any]:
    """Returns the even and odd parts of the numerator of the approximant of order 13."""
    b = _COEFFICIENTS
    identity = np.eye(get_aval(a).shape[-1], dtype=get_aval(a).dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * identity)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * identity
    return even, odd


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """Returns the exponential of a matrix and its derivative in a direction, the latter alone by request.

    Args:
      A: a square matrix.
      E: the direction.
      method: has no effect.
      compute_expm: whether the exponential is returned too.

    >>> expm_frechet(np.zeros((2, 2)), np.array([[0.0, 1.0], [2.0, 0.0]]), compute_expm=False)
    array([[0., 1.],
           [2., 0.]])

    Source: ``scipy.linalg.expm_frechet``.
    """
    value, derivative = jvp(expm, (A,), (E,))
    return (value, derivative) if compute_expm else derivative
