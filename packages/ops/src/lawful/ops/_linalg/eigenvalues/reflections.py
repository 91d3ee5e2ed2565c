"""Householder's reflections in NumPy, as LAPACK makes them."""

from __future__ import annotations

from typing import Any

import numpy as np


def reflection(x: Any) -> tuple[Any, Any, Any]:
    """Returns reflections that map vectors to multiples of the first unit vector: ``(1 − τ v vᴴ)ᴴ x = β e₁``.

    Args:
      x: an array of shape (count, n), with n ≥ 1.

    Returns:
      ``(beta, tau, v)``, of shapes (count,), (count,) and (count, n). β is real, and the first element of v is 1. τ is
      0 where x is such a multiple already.
    """
    scale = np.max(np.maximum(np.abs(x.real), np.abs(x.imag)), axis=1)
    x = x / np.where(scale == 0, 1, scale)[:, None]
    first, rest = x[:, 0], x[:, 1:]
    length = np.linalg.norm(rest, axis=1)
    is_done = (length == 0) & (first.imag == 0)
    beta = np.where(is_done, first.real, -np.copysign(np.hypot(np.abs(first), length), first.real))
    tau = np.where(is_done, 0, (beta - first) / np.where(is_done, 1, beta)).astype(x.dtype)
    v = np.ones_like(x)
    v[:, 1:] = rest / np.where(is_done, 1, first - beta)[:, None]
    return beta * scale, tau, v


def power_of_scale(x: Any) -> Any:
    """Returns for each matrix the power of 2 that divides it so that its largest element is about 1."""
    largest = np.max(np.maximum(np.abs(x.real), np.abs(x.imag)), axis=(-2, -1), initial=0, keepdims=True)
    return np.exp2(np.where(largest > 0, np.frexp(largest)[1], 0).clip(-1021, 1023).astype(float))
