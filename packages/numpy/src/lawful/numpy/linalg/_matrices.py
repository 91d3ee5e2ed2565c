"""Shared by the functions of linear algebra: errors, and checks and promotion of arguments."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, current, get_aval, kind, promote_dtypes
from lawful.numpy._eager import PLAIN_TYPES, DirectCall, _all_plain, direct_hook

F = TypeVar("F", bound=Callable[..., Any])

_FLOAT = numpy.dtype(numpy.float64)
_MATRIX_DTYPES = tuple(map(numpy.dtype, ("float32", "float64", "complex64", "complex128")))


class LinAlgError(ArgumentValueError, numpy.linalg.LinAlgError):
    """A matrix is not square, or singular, or not positive definite where that is needed.

    ``except numpy.linalg.LinAlgError`` catches it too. Errors of values are raised only where nothing is
    traced or compiled; otherwise such a matrix gives NaN or infinity.

    >>> from lawful.numpy import linalg
    >>> linalg.inv(numpy.zeros((2, 2)))
    Traceback (most recent call last):
    lawful.numpy.linalg._matrices.LinAlgError: ...: inv: expected matrices that NumPy accepts, got Singular matrix; ...
    """


class _Values(threading.local):
    may_be_bad = False


_values = _Values()


@contextmanager
def bad_matrices_give_nan() -> Iterator[None]:
    """Evaluates functions of bad matrices within a ``with`` block as under ``jit``: to NaN or infinity."""
    before, _values.may_be_bad = _values.may_be_bad, True
    try:
        yield
    finally:
        _values.may_be_bad = before


def by_numpy(
    numpy_function: Callable[..., Any], *, arrays: int = 1, eagerly: Callable[..., Any] | None = None
) -> Callable[[F], F]:
    """Returns a decorator that calls NumPy's function if the arguments are plain arrays.

    The decorated function defines the arguments, the result and the errors of shapes and dtypes; NumPy raises the
    errors of values.

    Args:
      numpy_function: NumPy's function, which accepts the same arguments.
      arrays: how many of the first arguments are arrays.
      eagerly: called if arrays are traced and their values are known; by default the function as a `Composite`.
    """

    def decorate(function: F) -> F:
        apply = eagerly or ops.Composite(function, arrays, looks=True)
        name = function.__name__.removeprefix("_")

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not _all_plain(args, arrays, False):
                return (apply if current.trace.evaluates_constants else function)(*args, **kwargs)
            try:
                return numpy_function(*args, **kwargs)
            except numpy.linalg.LinAlgError as error:
                result = function(*args, **kwargs)  # raises if a shape is wrong
                if _values.may_be_bad:
                    return result
                raise LinAlgError(
                    f"{name}: expected matrices that NumPy accepts, got {error}; use pinv, lstsq or svd "
                    "where a matrix may be singular"
                ) from error
            except (TypeError, ValueError, OverflowError):
                return function(*args, **kwargs)  # raises the error

        names = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]

        def of_traced(*args: Any, **kwargs: Any) -> Any:
            return (apply if current.trace.evaluates_constants else function)(*args, **kwargs)

        most = function.__code__.co_argcount
        call = DirectCall(numpy_function, arrays, False, PLAIN_TYPES, most, frozenset(names), traced=of_traced)
        return cast(F, direct_hook.use(wrapper, call))

    return decorate


def inexact(name: str, *arrays: Any, linear_algebra: bool = True) -> list[Any]:
    """Returns arrays of one floating or complex dtype: integers become float64.

    Raises:
      ArgumentTypeError: it is float16 or another one that LAPACK has not.
    """
    avals = [get_aval(x) for x in arrays]
    dtype, _ = promote_dtypes(
        *[(_FLOAT, False) if kind(aval.dtype) in "biu" else (aval.dtype, aval.weak_type) for aval in avals]
    )
    if linear_algebra and dtype not in _MATRIX_DTYPES:
        raise ArgumentTypeError(
            f"{name}: expected an array of float32, float64, complex64 or complex128, got {dtype}; convert with astype"
        )
    return [
        ops.convert_element_type(x, dtype) if aval.dtype != dtype or aval.weak_type else x
        for x, aval in zip(arrays, avals, strict=True)
    ]


def check_stack(name: str, x: Any, *, square: bool = False) -> None:
    """Raises LinAlgError if an array is not one of matrices, or of square ones."""
    aval = get_aval(x)
    if aval.ndim < 2 or (square and aval.shape[-1] != aval.shape[-2]):
        raise LinAlgError(
            f"{name}: expected {'square matrices' if square else 'matrices'} in the last two dimensions, got the shape "
            f"{aval.shape}; reshape it"
        )


def adjoint(x: Any) -> Any:
    """Returns each matrix transposed and conjugated."""
    return transposed(ops.conj(x) if get_aval(x).dtype.kind == "c" else x)


def transposed(x: Any) -> Any:
    """Returns each matrix transposed."""
    ndim = get_aval(x).ndim
    return ops.transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def identity(size: int, dtype: Any) -> Any:
    """Returns the matrix with ones on the diagonal."""
    row, column = (ops.broadcasted_iota("int64", (size, size), dim) for dim in (0, 1))
    return ops.convert_element_type(ops.eq(row, column), dtype)
