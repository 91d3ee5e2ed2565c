"""The array API's functions for the different elements of an array: one for each combination of results.

The number of different elements depends on values: if the array is traced, ``size=`` must be given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lawful import ops
from lawful.core import Tracer, get_aval
from lawful.numpy._sorting.unique import count_different, unique

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """Different elements, where each is first, which one each element is, and how often each occurs."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """Different elements, and how often each occurs."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """Different elements, and which one each element is."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAllResult:
    """Returns the different elements of an array, sorted, and all that is known of them; each NaN is another one.

    Args:
      x: an array.
      size: how many are given; it has to be known where ``x`` is traced. More are left out.
      fill_value: the value for missing elements; by default the smallest element.

    Raises:
      ConcretizationTypeError: ``x`` is traced, and there is no ``size``.

    >>> import numpy
    >>> unique_all(numpy.array([3, 1, 3])).inverse_indices
    array([1, 0, 1])

    Source: ``numpy.unique_all``, ``jax.numpy.unique_all``.
    """
    wanted = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
    return UniqueAllResult(*_unique("unique_all", x, size, fill_value, **wanted))


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCountsResult:
    """Returns the different elements of an array, and how often each occurs; arguments are those of :func:`unique_all`.

    >>> import numpy
    >>> unique_counts(numpy.array([3, 1, 3])).counts
    array([1, 2])
    """
    return UniqueCountsResult(*_unique("unique_counts", x, size, fill_value, return_counts=True))


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverseResult:
    """Returns the different elements of an array, and which one each element is; arguments as :func:`unique_all`.

    Law: ``take(values, inverse_indices) = x``, if ``size`` leaves none out.

    >>> import numpy
    >>> unique_inverse(numpy.array([3, 1, 3]))
    UniqueInverseResult(values=array([1, 3]), inverse_indices=array([1, 0, 1]))
    """
    return UniqueInverseResult(*_unique("unique_inverse", x, size, fill_value, return_inverse=True))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Returns the different elements of an array, sorted; arguments are those of :func:`unique_all`.

    >>> import numpy
    >>> unique_values(numpy.array([3, 1, 3])), unique_values(numpy.array([3, 1, 3]), size=1)
    (array([1, 3]), array([1]))
    """
    return _unique("unique_values", x, size, fill_value)


def _unique(name: str, x: Any, size: int | None, fill_value: Any, **wanted: bool) -> Any:
    if isinstance(x, Tracer) and size is None:
        size = count_different(name, x, equal_nan=False)
    flat = ops.reshape(x, (get_aval(x).size,))
    found = unique(flat, equal_nan=False, size=size, fill_value=fill_value, **wanted)
    if "return_inverse" not in wanted:
        return found
    at = 2 if "return_index" in wanted else 1
    inverse = ops.reshape(found[at], get_aval(x).shape)
    return (*found[:at], inverse, *found[at + 1 :])
