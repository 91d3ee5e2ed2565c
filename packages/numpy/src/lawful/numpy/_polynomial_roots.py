"""Polynomials from their roots and their roots, quotients of them, and those that fit samples best."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, get_aval, is_inexact, to_numpy
from lawful.numpy._broadcasting import atleast_1d
from lawful.numpy._diagonals import diag
from lawful.numpy._polynomials import vander
from lawful.numpy.linalg import eigvals, inv, lstsq
from lawful.ops import static_integers

__all__ = ["poly", "polydiv", "polyfit", "roots"]

_FLOAT = numpy.dtype(numpy.float64)


def _inexact(x: Any) -> Any:
    aval = get_aval(x)
    return ops.convert_element_type(x, aval.dtype if is_inexact(aval.dtype) else _FLOAT)


def _vector(name: str, p: Any) -> Any:
    p = atleast_1d(p)
    if get_aval(p).ndim != 1:
        raise ArgumentValueError(f"{name}: expected a vector of coefficients, got {get_aval(p)}; ravel it")
    return p


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
    roots = _inexact(roots)
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
    p = _inexact(_vector("roots", p))
    zeros = 0
    known = p.concrete() if isinstance(p, Tracer) else to_numpy(p)
    if known is not None:
        places = numpy.flatnonzero(known)
        first, last = (int(places[0]), int(places[-1])) if places.size else (0, 0)
        zeros = numpy.size(known) - 1 - last if places.size else 0
        if zeros == 1 and isinstance(p, Tracer):
            last, zeros = last + 1, 0  # a simple root at 0 moves with the last coefficient, and so do the others
        p = ops.slice_in_dim(p, first, last + 1 if places.size else 0)
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


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Returns the quotient of two polynomials, and the remainder, with leading zeros if it has any.

    Args:
      u: the coefficients of the dividend, the highest first: a vector.
      v: those of the divisor, of which the first one must not be zero.

    Raises:
      ArgumentValueError: one has more than one dimension, or no coefficient.

    >>> polydiv(numpy.array([3.0, 5.0, 2.0]), numpy.array([2.0, 1.0]))
    (array([1.5 , 1.75]), array([0.25]))

    Source: ``numpy.polydiv``, which drops leading zeros of the remainder.
    """
    left, right = (_inexact(_vector("polydiv", x)) for x in (u, v))
    dtype = numpy.result_type(get_aval(left).dtype, get_aval(right).dtype)
    left, right = ops.convert_element_type(left, dtype), ops.convert_element_type(right, dtype)
    sizes = get_aval(left).shape[0], get_aval(right).shape[0]
    if 0 in sizes:
        raise ArgumentValueError("polydiv: expected polynomials with coefficients, got none; give a zero")
    steps = sizes[0] - sizes[1] + 1
    if steps < 1:
        return ops.full((1,), dtype.type(0)), left
    lead, rest = ops.slice_in_dim(right, 0, 1), ops.slice_in_dim(right, 1, sizes[1])
    quotient = []
    for _ in range(steps):
        factor = ops.div(ops.slice_in_dim(left, 0, 1), lead)
        quotient.append(factor)
        size = get_aval(left).shape[0]
        reduced = ops.sub(ops.slice_in_dim(left, 1, sizes[1]), ops.mul(factor, rest))
        left = ops.concatenate([reduced, ops.slice_in_dim(left, sizes[1], size)], 0)
    remainder = left if get_aval(left).shape[0] else ops.full((1,), dtype.type(0))
    return ops.concatenate(quotient, 0), remainder


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Returns the coefficients, the highest first, of the polynomial that fits samples with the least squares.

    Args:
      x: where the samples were taken, a vector.
      y: the samples, a vector; or several such in columns.
      deg: the degree of the polynomial.
      rcond: singular values of at most this times the largest count as zero; by default the number of samples times
        the precision.
      full: whether to return ``(coefficients, residuals, rank, singular_values, rcond)``.
      w: weights of the differences, not of their squares.
      cov: whether to return the covariance matrix of the coefficients too; ``"unscaled"`` for weights that are the
        reciprocals of known deviations.

    Raises:
      ArgumentValueError: the degree is negative, or there are too few samples for a covariance.
      ArgumentTypeError: the shapes do not fit.

    >>> polyfit(numpy.array([0.0, 1.0, 2.0]), numpy.array([1.0, 3.0, 5.0]), 1).round(6)
    array([2., 1.])

    Source: ``numpy.polyfit``.
    """
    (degree,) = static_integers("polyfit", "deg", deg)
    if degree < 0:
        raise ArgumentValueError(f"polyfit: expected a degree that is not negative, got {degree}; give another one")
    avals, order = (get_aval(x), get_aval(y)), degree + 1
    count = avals[0].size
    if avals[0].ndim != 1 or not count or avals[1].ndim not in (1, 2) or avals[1].shape[0] != count:
        raise ArgumentTypeError(
            f"polyfit: expected a vector and as many samples, or columns of them, got {avals[0]} and {avals[1]}; "
            "reshape them"
        )
    x, rhs = _inexact(x), _inexact(y)
    if rcond is None:
        rcond = count * float(numpy.finfo(get_aval(x).dtype).eps)
    lhs = vander(x, order)
    if w is not None:
        if get_aval(w).shape != (count,):
            raise ArgumentTypeError(f"polyfit: expected a weight for each of {count} samples, got {get_aval(w)}")
        weights = ops.reshape(_inexact(w), (count, 1))
        lhs, rhs = (
            ops.mul(lhs, weights),
            ops.mul(rhs, weights if avals[1].ndim == 2 else ops.reshape(weights, (count,))),
        )
    scale = ops.sqrt(ops.reduce_sum(ops.square(lhs), (0,)))
    lhs = ops.div(lhs, scale)
    solution, residuals, rank, singular = lstsq(lhs, rhs, rcond)
    found = ops.div(solution, ops.reshape(scale, (order, 1)) if avals[1].ndim == 2 else scale)
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    base = inv(ops.dot(ops.transpose(lhs, (1, 0)), lhs))
    base = ops.div(base, ops.mul(ops.reshape(scale, (order, 1)), scale))
    if cov != "unscaled":
        if count <= order:
            raise ArgumentValueError(
                f"polyfit: expected more samples than the {order} coefficients for a covariance, got {count}; take "
                "cov='unscaled'"
            )
        factor: Any = ops.div(residuals, count - order)
    else:
        factor = 1.0
    if avals[1].ndim == 1:
        return found, ops.mul(base, factor)
    return found, ops.mul(ops.expand_dims(base, (2,)), factor)
