"""Polynomials from their roots, and the roots of polynomials."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, Tracer, get_aval, to_numpy
from lawful.numpy._linalg.diagonals import diag
from lawful.numpy._manipulation.broadcasting import atleast_1d
from lawful.numpy._polynomials.coefficients import inexact, vector
from lawful.numpy.linalg import eigvals

__all__ = ["poly", "roots"]


def poly(seq_of_zeros: Any) -> Any:
    """Returns the coefficients, the highest first, of the polynomial with given roots, or of a matrix's eigenvalues.

    Args:
      seq_of_zeros: the roots, a vector; or a square matrix.

    Raises:
      ArgumentValueError: it is neither.

    Of complex roots they are complex: NumPy gives real ones where all roots have their conjugates among them.

    >>> poly(numpy.array([1.0, 2.0]))
    array([ 1., -3.,  2.])

    Source: ``numpy.poly``.
    """
    roots, is_real = atleast_1d(seq_of_zeros), False
    shape = get_aval(roots).shape
    if len(shape) == 2 and shape[0] == shape[1] and shape[0]:
        is_real = get_aval(roots).dtype.kind != "c"
        roots = eigvals(roots)
    elif len(shape) != 1:
        raise ArgumentValueError(f"poly: expected a vector or a square matrix, got the shape {shape}; reshape it")
    (size,) = get_aval(roots).shape
    if not size:
        return ops.full((), 1.0)
    roots = inexact(roots)
    dtype = get_aval(roots).dtype
    zero = dtype.type(0)
    coefficients = ops.full((1,), dtype.type(1))
    for i in range(size):
        root = ops.slice_in_dim(roots, i, i + 1)
        longer, shifted = (ops.pad(coefficients, zero, [pair]) for pair in ((0, 1, 0), (1, 0, 0)))
        coefficients = ops.sub(longer, ops.mul(root, shifted))
    return ops.real(coefficients) if is_real else coefficients


def roots(p: Any) -> Any:
    """Returns the roots of a polynomial, always complex: the eigenvalues of its companion matrix.

    Args:
      p: the coefficients, the highest first: a vector.

    Raises:
      ArgumentValueError: there is more than one dimension.

    Leading zeros are left out where they are known; of traced coefficients the first one must not be zero, or the
    roots are infinite or NaN. Derivatives are those of simple roots.

    >>> roots(numpy.array([1.0, -3.0, 2.0]))
    array([2.+0.j, 1.+0.j])

    Source: ``numpy.roots``, which gives real numbers where all roots are.
    """
    p = inexact(vector("roots", p))
    zeros = 0
    known = p.concrete() if isinstance(p, Tracer) else to_numpy(p)
    if known is not None:
        nonzeros = numpy.flatnonzero(known)
        first, last = (int(nonzeros[0]), int(nonzeros[-1])) if nonzeros.size else (0, 0)
        zeros = numpy.size(known) - 1 - last if nonzeros.size else 0
        if zeros == 1 and isinstance(p, Tracer):
            last, zeros = last + 1, 0  # a simple root at 0 has a derivative by the last coefficient
        p = ops.slice_in_dim(p, first, last + 1 if nonzeros.size else 0)
    size = get_aval(p).shape[0]
    dtype = numpy.result_type(get_aval(p).dtype, numpy.complex64)
    nothing = ops.full((zeros,), dtype.type(0))
    if size < 2:
        return nothing
    row = ops.div(ops.neg(ops.slice_in_dim(p, 1, size)), ops.slice_in_dim(p, 0, 1))
    below = diag(ops.full((size - 2,), get_aval(p).dtype.type(1)), -1)
    companion = ops.concatenate([ops.reshape(row, (1, size - 1)), ops.slice_in_dim(below, 1, size - 1)], 0)
    found = eigvals(companion)
    return ops.concatenate([found, nothing], 0) if zeros else found
