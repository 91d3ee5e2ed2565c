"""The Householder reflections of the QR decomposition, as LAPACK stores them."""

from __future__ import annotations

from typing import Any

from lawful import numpy as lnp
from lawful.autodiff import stop_gradient
from lawful.control_flow import fori_loop
from lawful.core import get_aval


def reflections(a: Any) -> tuple[Any, Any]:
    """Returns R with the vectors of the reflections below its diagonal, and their factors.

    For a column that is done already, the factor is zero.

    Args:
      a: matrices, an array of shape (…, m, n) of inexact dtype.

    Returns:
      Arrays of shapes (…, m, n) and (…, k) with k = min(m, n). The vector v of reflection j has zeros before its
      element j, which is one; ``Q`` is the product of ``1 - tau v vᴴ`` over all j.

    >>> import numpy
    >>> reflections(numpy.array([[3.0], [4.0]]))
    (array([[-5. ],
           [ 0.5]]), array([1.6]))
    """
    *batch, rows, columns = get_aval(a).shape
    count = min(rows, columns)
    if not count:
        return a, lnp.zeros((*batch, 0), get_aval(a).dtype)
    row, column = lnp.arange(rows), lnp.arange(columns)
    limits = lnp.finfo(get_aval(a).dtype)
    # XLA rounds neither of these, nor their inverses, to 0.
    smallest, largest = float(limits.tiny), float(limits.max) * 2.0**-16

    def reflect(j: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        a, factors = state
        x = lnp.take(a, j, axis=-1)
        first = lnp.take(x, j, axis=-1)
        below = lnp.where(row > j, x, lnp.zeros_like(x))
        is_done = lnp.all(below == 0, axis=-1) & (first.imag == 0)
        # The squares of large or small elements would overflow or vanish.
        size = stop_gradient(lnp.max(lnp.abs(lnp.where(row >= j, x, lnp.zeros_like(x))), axis=-1))
        unit = lnp.where(lnp.isfinite(size), lnp.clip(size, smallest, largest), lnp.ones_like(size))
        scaled, scaled_first = below / unit[..., None], first / unit
        length = lnp.sqrt(lnp.sum(lnp.abs(scaled) ** 2, axis=-1) + lnp.abs(scaled_first) ** 2)
        scaled_beta = lnp.where(is_done, scaled_first.real, -lnp.copysign(length, first.real))
        beta = lnp.where(is_done, first.real, unit * scaled_beta)
        from_first = lnp.where(is_done, lnp.ones_like(first), scaled_first - scaled_beta)  # unscaled it may overflow
        # Zero where nothing is reflected.
        factor = (scaled_beta - scaled_first) / lnp.where(scaled_beta == 0, lnp.ones_like(beta), scaled_beta)
        v = lnp.where(row == j, lnp.ones_like(x), scaled / from_first[..., None])
        change = lnp.conj(factor)[..., None, None] * v[..., None] * (lnp.conj(v)[..., None, :] @ a)
        stored = lnp.where(row > j, v, lnp.where(row == j, beta[..., None].astype(x.dtype), x))
        a = lnp.where(column == j, stored[..., None], lnp.where(column > j, a - change, a))
        return a, lnp.where(lnp.arange(count) == j, factor[..., None], factors)

    found: tuple[Any, Any] = fori_loop(0, count, reflect, (a, lnp.zeros((*batch, count), get_aval(a).dtype)))
    return found
