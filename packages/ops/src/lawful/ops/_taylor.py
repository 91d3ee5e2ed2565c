"""Power series in two small numbers α and β, cut off: derivatives of any order of a function by its parameters.

A series is a dictionary from ``(i, j)`` to the coefficient of ``αⁱ βʲ``, with all indices up to its order. The
coefficients are arrays or tracers, so that a derivative computed by such series can itself be differentiated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product as pairs
from typing import Any

Index = tuple[int, int]
Series = dict[Index, Any]
#: How fast a number grows with α and with β: integers, or arrays.
Slope = tuple[Any, Any]


@cache
def indices(order: Index) -> tuple[Index, ...]:
    """Returns the indices of the coefficients of a series of an order, the lower ones first."""
    return tuple(pairs(range(order[0] + 1), range(order[1] + 1)))


def constant(x: Any, order: Index) -> Series:
    """Returns the series that is a number."""
    return {index: x if index == (0, 0) else 0.0 * x for index in indices(order)}


def times(series: Series, x: Any, slope: Slope) -> Series:
    """Returns a series multiplied by ``x + slope[0] α + slope[1] β``."""
    return {index: _sum([x * c, *_lower(series, index, slope)]) for index, c in series.items()}


def over(series: Series, x: Any, slope: Slope) -> Series:
    """Returns a series divided by ``x + slope[0] α + slope[1] β``."""
    out: Series = {}
    for index, c in series.items():
        out[index] = _less(c, _lower(out, index, slope)) / x
    return out


def _lower(series: Series, index: Index, slope: Slope) -> list[Any]:
    """Returns what the product with a slope adds to a coefficient, of the lower ones."""
    i, j = index
    terms = []
    if i and not _is_none(slope[0]):
        terms.append(slope[0] * series[i - 1, j])
    if j and not _is_none(slope[1]):
        terms.append(slope[1] * series[i, j - 1])
    return terms


def _is_none(slope: Any) -> bool:
    return isinstance(slope, int) and slope == 0


def product(x: Series, y: Series) -> Series:
    """Returns the product of two series of one order."""
    return {(i, j): _sum([x[k, m] * y[i - k, j - m] for k, m in indices((i, j))]) for i, j in x}


def quotient(x: Series, y: Series) -> Series:
    """Returns ``x / y`` of two series of one order."""
    out: Series = {}
    for index, c in x.items():
        out[index] = _less(c, [y[k] * out[rest] for k, rest in _splits(index)]) / y[0, 0]
    return out


def exponential(series: Series) -> Series:
    """Returns the exponential of a series of which the constant coefficient has been exponentiated already."""
    out = {(0, 0): series[0, 0]}
    for index in series:
        if index != (0, 0):
            # By the derivative in α, or in β where there is no α.
            axis = 0 if index[0] else 1
            out[index] = _sum([k[axis] * series[k] * out[rest] for k, rest in _splits(index) if k[axis]]) / index[axis]
    return out


def _splits(index: Index) -> Iterator[tuple[Index, Index]]:
    """Yields the ways to write an index as a sum, of which the first part is not zero."""
    for k, m in indices(index)[1:]:
        yield (k, m), (index[0] - k, index[1] - m)


def _sum(terms: list[Any]) -> Any:
    return sum(terms[1:], start=terms[0])


def _less(x: Any, terms: list[Any]) -> Any:
    return x - _sum(terms) if terms else x
