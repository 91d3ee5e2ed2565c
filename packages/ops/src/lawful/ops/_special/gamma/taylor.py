"""Truncated power series in two small numbers α and β: derivatives of any order of a function by its parameters.

A series is a dictionary from ``(i, j)`` to the coefficient of ``αⁱ βʲ``, with all indices up to its order. The
coefficients are arrays or tracers, so that a derivative computed by such series can itself be differentiated.
"""

from __future__ import annotations

from itertools import product as pairs
from typing import Any

from lawful.core import cached_function

Index = tuple[int, int]
Series = dict[Index, Any]
#: The derivatives of a number by α and by β: integers or arrays.
Slope = tuple[Any, Any]


@cached_function("indices of Taylor series", 256)
def indices(order: Index) -> tuple[Index, ...]:
    """Returns the indices of the coefficients of a series of an order, the lower ones first."""
    return tuple(pairs(range(order[0] + 1), range(order[1] + 1)))


def constant(x: Any, order: Index) -> Series:
    """Returns the series of a constant."""
    return {index: x if index == (0, 0) else 0.0 * x for index in indices(order)}


def linear(x: Any, slope: Any, order: Index) -> Series:
    """Returns the series of ``x + slope α``."""
    out = dict.fromkeys(indices(order), 0.0)
    if order[0]:
        out[1, 0] = slope
    out[0, 0] = x
    return out


def plus(x: Series, y: Series) -> Series:
    """Returns the sum of two series of one order."""
    return {index: c + y[index] for index, c in x.items()}


def times(series: Series, x: Any, slope: Slope) -> Series:
    """Returns a series multiplied by ``x + slope[0] α + slope[1] β``."""
    return {index: _with_lower(x * c, series, index, slope) for index, c in series.items()}


def over(series: Series, x: Any, slope: Slope) -> Series:
    """Returns a series divided by ``x + slope[0] α + slope[1] β``."""
    out: Series = {}
    falling = -slope[0], -slope[1]
    for index, c in series.items():
        out[index] = _with_lower(c, out, index, falling) / x
    return out


def _with_lower(c: Any, series: Series, index: Index, slope: Slope) -> Any:
    """Returns the coefficient of a product with ``x + slope``, given ``c``, that of the product with ``x``."""
    i, j = index
    if i and not _is_zero(slope[0]):
        c = c + slope[0] * series[i - 1, j]
    if j and not _is_zero(slope[1]):
        c = c + slope[1] * series[i, j - 1]
    return c


def _is_zero(slope: Any) -> bool:
    return type(slope) is int and slope == 0


def product(x: Series, y: Series) -> Series:
    """Returns the product of two series of one order."""
    out = {}
    for index in x:
        total = x[0, 0] * y[index]
        for k, rest in _splits(index):
            total = total + x[k] * y[rest]
        out[index] = total
    return out


def quotient(x: Series, y: Series) -> Series:
    """Returns ``x / y`` of two series of one order."""
    out: Series = {}
    for index, c in x.items():
        for k, rest in _splits(index):
            c = c - y[k] * out[rest]
        out[index] = c / y[0, 0]
    return out


def reciprocal(series: Series) -> Series:
    """Returns ``1 / series``."""
    return quotient({index: 0.0 if any(index) else 1.0 for index in series}, series)


def exponential(series: Series) -> Series:
    """Returns the exponential of a series whose constant coefficient is exponentiated already."""
    out = {(0, 0): series[0, 0]}
    for index in series:
        if index != (0, 0):
            # By the derivative in α, or in β where there is no α.
            axis = 0 if index[0] else 1
            total = _sum([_multiple(k[axis], series[k]) * out[rest] for k, rest in _splits(index) if k[axis]])
            out[index] = total if index[axis] == 1 else total / index[axis]
    return out


@cached_function("splits of Taylor indices", 256)
def _splits(index: Index) -> tuple[tuple[Index, Index], ...]:
    """Returns the ways to write an index as a sum, of which the first part is not zero."""
    return tuple([((k, m), (index[0] - k, index[1] - m)) for k, m in indices(index)[1:]])


def _multiple(factor: int, x: Any) -> Any:
    return x if factor == 1 else factor * x


def _sum(terms: list[Any]) -> Any:
    return sum(terms[1:], start=terms[0])
