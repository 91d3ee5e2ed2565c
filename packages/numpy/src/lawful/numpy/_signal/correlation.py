"""Covariance of samples, and convolution of sequences."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import (
    ArgumentValueError,
    InvalidArgumentError,
    as_dtype,
    get_aval,
    is_inexact,
    promote_dtypes,
)
from lawful.numpy._eager import eager

__all__ = ["convolve", "corrcoef", "correlate", "cov"]


class WeightsError(ArgumentValueError, RuntimeError):
    """There are not as many weights as samples. ``except RuntimeError`` catches it too, which NumPy raises."""


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Returns the covariance matrix of variables.

    Args:
      m: the samples, at most two dimensions: each row is a variable, each column a sample.
      y: more variables, of the same form.
      rowvar: whether rows are variables; if not, columns are.
      bias: whether to divide by the number of samples; by default by one less.
      ddof: the number subtracted from the number of samples instead.
      fweights: how often each sample counts, integers.
      aweights: how much each sample counts.
      dtype: the dtype of the result; by default at least float64.

    Raises:
      ArgumentValueError: there are more dimensions, or not as many weights as samples.
      ArgumentTypeError: ``dtype`` is not floating or complex.

    >>> cov(numpy.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])

    Source: ``numpy.cov``.
    """
    given = [get_aval(x) for x in (m, y) if x is not None]
    if any(aval.ndim > 2 for aval in given):
        raise ArgumentValueError(f"cov: expected at most two dimensions, got {', '.join(map(str, given))}")
    if ddof is not None and ddof != int(ddof):
        raise ArgumentValueError(f"cov: expected an integer ddof, got {ddof}")
    if dtype is None:
        dtype, _ = promote_dtypes(*[(aval.dtype, False) for aval in given], (numpy.dtype(numpy.float64), False))
    if not is_inexact(as_dtype(dtype)):
        raise InvalidArgumentError(
            f"cov: expected a floating or complex dtype, got {as_dtype(dtype)}; round the result"
        )
    parts = []
    for x in (m, y):
        if x is None:
            continue
        x = ops.convert_element_type(x, as_dtype(dtype))
        rank = get_aval(x).ndim
        x = ops.reshape(x, (1, -1)) if rank < 2 else x
        parts.append(ops.transpose(x, (1, 0)) if not rowvar and get_aval(x).shape[0] != 1 and rank == 2 else x)
    x = ops.concatenate(parts, 0) if len(parts) > 1 else parts[0]
    count = get_aval(x).shape[1]
    weights: Any = None
    for w in (fweights, aweights):
        if w is None:
            continue
        if get_aval(w).shape != (count,):
            raise WeightsError(f"cov: expected a weight for each of {count} samples, got {get_aval(w)}; give as many")
        weights = w if weights is None else ops.mul(weights, w)
    ddof = (0 if bias else 1) if ddof is None else int(ddof)
    total: Any = count if weights is None else ops.reduce_sum(weights, (0,))
    weighted = x if weights is None else ops.mul(x, weights)
    mean = ops.div(ops.reduce_sum(weighted, (1,)), total)
    if weights is None or ddof == 0:
        divisor: Any = total - ddof
    elif aweights is None:
        divisor = total - ddof
    else:
        divisor = total - ddof * ops.reduce_sum(ops.mul(weights, aweights), (0,)) / total
    x = ops.sub(x, ops.reshape(mean, (-1, 1)))
    weighted = x if weights is None else ops.mul(x, weights)
    product = ops.dot(
        x, ops.conj(ops.transpose(weighted, (1, 0))) if _is_complex(x) else ops.transpose(weighted, (1, 0))
    )
    divisor = max(divisor, 0) if isinstance(divisor, int) else ops.max(divisor, 0)
    out = ops.div(product, divisor)
    return ops.reshape(out, ()) if get_aval(out).size == 1 else out


def _is_complex(x: Any) -> bool:
    return get_aval(x).dtype.kind == "c"


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Returns the matrix of correlation coefficients of variables; arguments are those of `cov`.

    >>> corrcoef(numpy.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])

    Source: ``numpy.corrcoef``.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not get_aval(c).ndim:
        return ops.div(c, c)
    size = get_aval(c).shape[0]
    variance = ops.real(ops.getitem(c, (numpy.arange(size), numpy.arange(size))))
    deviation = ops.sqrt(variance)
    c = ops.div(ops.div(c, ops.reshape(deviation, (-1, 1))), ops.reshape(deviation, (1, -1)))
    if _is_complex(c):
        return ops.complex(ops.clamp(-1.0, ops.real(c), 1.0), ops.clamp(-1.0, ops.imag(c), 1.0))
    return ops.clamp(-1.0, c, 1.0)


def _whole(name: str, a: Any, v: Any) -> tuple[Any, int, int]:
    """Returns the full convolution of two sequences, and their lengths."""
    avals = get_aval(a), get_aval(v)
    if any(aval.ndim > 1 or not aval.size for aval in avals):
        raise ArgumentValueError(
            f"{name}: expected sequences of at least one number, got {avals[0]} and {avals[1]}; flatten them"
        )
    dtype, _ = promote_dtypes(*[(aval.dtype, False) for aval in avals])
    long, short = avals[0].size, avals[1].size
    x = ops.reshape(ops.convert_element_type(a, dtype), (1, 1, long))
    kernel = ops.rev(ops.reshape(ops.convert_element_type(v, dtype), (1, 1, short)), (2,))
    is_bool = dtype.kind == "b"
    if is_bool:
        x, kernel = (ops.convert_element_type(y, numpy.int64) for y in (x, kernel))
    out = ops.conv_general_dilated(x, kernel, (1,), [(short - 1, short - 1)])
    out = ops.reshape(out, (long + short - 1,))
    return (ops.ne(out, 0) if is_bool else out), long, short


def _part(name: str, whole: Any, mode: str, long: int, short: int, skipped: int) -> Any:
    if mode not in ("full", "same", "valid"):
        raise ArgumentValueError(f"{name}: expected mode='full', 'same' or 'valid', got {mode!r}; choose one")
    if mode == "full":
        return whole
    if mode == "same":
        return ops.slice_in_dim(whole, skipped, skipped + long)
    return ops.slice_in_dim(whole, short - 1, long)


@eager(numpy.convolve, arrays=2)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Returns the convolution of two sequences.

    Args:
      a: a sequence of numbers.
      v: another one; they may be exchanged.
      mode: ``"full"`` wherever they meet; ``"same"`` as many numbers as the longer one has, from the middle;
        ``"valid"`` where the shorter one lies within the longer one.

    Raises:
      ArgumentValueError: one is empty, or has more than one dimension, or there is no such mode.

    >>> convolve(numpy.array([1.0, 2.0, 3.0]), numpy.array([0.0, 1.0, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])

    Source: ``numpy.convolve``.
    """
    if get_aval(v).size > get_aval(a).size:
        a, v = v, a
    whole, long, short = _whole("convolve", a, v)
    return _part("convolve", whole, mode, long, short, (short - 1) // 2)


@eager(numpy.correlate, arrays=2)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Returns the products of a sequence with the conjugate of another one at each distance, summed.

    Args:
      a: a sequence of numbers.
      v: another one.
      mode: as in `convolve`.

    Raises:
      ArgumentValueError: one is empty, or has more than one dimension, or there is no such mode.

    >>> correlate(numpy.array([1.0, 2.0, 3.0]), numpy.array([0.0, 1.0, 0.5]), "full")
    array([0.5, 2. , 3.5, 3. , 0. ])

    Source: ``numpy.correlate``.
    """
    aval = get_aval(v)
    turned = ops.rev(ops.reshape(v, (aval.size,)), (0,)) if aval.ndim < 2 else v
    if is_inexact(aval.dtype) and aval.dtype.kind == "c":
        turned = ops.conj(turned)
    whole, first, second = _whole("correlate", a, turned)
    long, short = max(first, second), min(first, second)
    half = (short - 1) // 2
    return _part("correlate", whole, mode, long, short, half if first >= second else short - 1 - half)
