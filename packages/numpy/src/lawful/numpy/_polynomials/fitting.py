"""Least-squares fits of polynomials, and Vandermonde matrices."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._polynomials.coefficients import inexact
from lawful.numpy.linalg import inv, lstsq
from lawful.ops import static_integers

__all__ = ["polyfit", "vander"]


@eager(numpy.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Returns the powers of a vector's elements: ``N`` columns, by default as many as rows.

    Args:
      x: a vector.
      N: the number of columns.
      increasing: whether the powers increase from the left to the right.

    Raises:
      ArgumentValueError: it is no vector, or ``N`` is negative.

    >>> vander(numpy.array([1, 2, 3]))
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])

    Source: ``numpy.vander``.
    """
    aval = get_aval(x)
    if aval.ndim != 1:
        raise ArgumentValueError(f"vander: expected a vector, got {aval}; ravel it")
    (size,) = aval.shape
    (columns,) = static_integers("vander", "N", size if N is None else N)
    if columns < 0:
        raise ArgumentValueError(f"vander: expected a number of columns that is not negative, got {columns}")
    (x,) = ops.promote("vander", None, (x,))
    x = ops.convert_element_type(x, numpy.promote_types(aval.dtype, int) if aval.dtype.kind in "biufc" else aval.dtype)
    dtype = get_aval(x).dtype
    if not columns:
        return ops.full((size, 0), 0, dtype)
    repeated = ops.broadcast_in_dim(x, (size, columns - 1), (0,))
    powers = ops.concatenate([ops.full((size, 1), 1, dtype), ops.cumprod(repeated, axis=1)], 1)
    return powers if increasing else ops.rev(powers, (1,))


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
    x, rhs = inexact(x), inexact(y)
    if rcond is None:
        rcond = count * float(numpy.finfo(get_aval(x).dtype).eps)
    lhs = vander(x, order)
    if w is not None:
        if get_aval(w).shape != (count,):
            raise ArgumentTypeError(f"polyfit: expected a weight for each of {count} samples, got {get_aval(w)}")
        weights = ops.reshape(inexact(w), (count, 1))
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
