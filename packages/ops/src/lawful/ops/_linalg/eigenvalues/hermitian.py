"""The triangle of Hermitian matrices that is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.ops._linalg.decomposition import compare_with_diagonal, mask_triangle
from lawful.ops._linalg.matrices import real_dtype


def read_triangle(x: Any, *, lower: bool) -> Any:
    """Returns the triangle of Hermitian matrices that is read, with a real diagonal and zeros elsewhere, in NumPy."""
    if not lower:
        return np.conj(np.swapaxes(read_triangle(np.conj(np.swapaxes(x, -1, -2)), lower=True), -1, -2))
    strict = np.tril(x, -1)
    if x.dtype.kind != "c":
        return np.tril(x)
    index = np.arange(x.shape[-1])
    strict[..., index, index] = x[..., index, index].real
    return strict


def lower_triangle(ctx: Any, x: Any, *, lower: bool) -> Any:
    """Lowers `read_triangle`."""
    (aval,) = ctx.avals_in
    out = mask_triangle(ctx, x, aval, lower=lower)
    if aval.dtype.kind != "c":
        return out
    # On the diagonal only the real part is read.
    real = ctx.hlo.real(x)
    zeros = ctx.zeros(aval.update(dtype=real_dtype(aval.dtype)))
    return ctx.hlo.select(compare_with_diagonal(ctx, aval, "EQ"), ctx.hlo.complex(real, zeros), out)
