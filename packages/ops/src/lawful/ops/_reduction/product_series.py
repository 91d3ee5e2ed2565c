"""The derivatives of products of all orders, evaluated without overflow of partial products.

The derivative of a product of ``x`` along ``t_1`` … ``t_m`` is the coefficient of ``ε_1 … ε_m`` in the product of
``x + ε_1 t_1 + … + ε_m t_m``, where ``ε_k ** 2 = 0``. The bits of a coefficient's number are the set of its ``ε``.

The products of the elements in front of and behind each one are scans of such series. Numbers are plain arrays, which
is fast, or scaled. A tangent of 0 makes a term 0, also beside a factor that is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from lawful import ops
from lawful.ops._reduction import scaled_numbers

Shape = tuple[int, ...]
#: Plain arrays, or alternately mantissas and exponents.
Flat = tuple[Any, ...]
Combine = Callable[[Flat, Flat], Flat]
#: Gives the unit of a combination in a shape.
Unit = Callable[[Shape], Flat]


class Plain:
    """Arithmetic of arrays as they are; a result may overflow."""

    width = 1

    def lift(self, x: Any) -> Flat:
        return (x,)

    def constant(self, shape: Shape, dtype: np.dtype[Any], value: int) -> Flat:
        return (ops.full(shape, value, dtype),)

    def lower(self, number: Flat) -> Any:
        return number[0]

    def times(self, x: Flat, y: Flat, annihilates: bool) -> Flat:
        return (x[0] * y[0],)

    def plus(self, x: Flat, y: Flat) -> Flat:
        return (x[0] + y[0],)


class Exact:
    """Arithmetic of scaled numbers."""

    width = 2

    def lift(self, x: Any) -> Flat:
        return scaled_numbers.scale(x)

    def constant(self, shape: Shape, dtype: np.dtype[Any], value: int) -> Flat:
        mantissa, exponent = scaled_numbers.ONE if value else scaled_numbers.ZERO
        return ops.full(shape, mantissa, dtype), ops.full(shape, exponent, np.int64)

    def lower(self, number: Flat) -> Any:
        return scaled_numbers.unscaled((number[0], number[1]))

    def times(self, x: Flat, y: Flat, annihilates: bool) -> Flat:
        return scaled_numbers.times((x[0], x[1]), (y[0], y[1]), annihilates=annihilates)

    def plus(self, x: Flat, y: Flat) -> Flat:
        return scaled_numbers.plus((x[0], x[1]), (y[0], y[1]))


class Series:
    """Arithmetic of power series in ``count`` many ``ε``, each a flat tuple of numbers."""

    def __init__(self, numbers: Plain | Exact, count: int) -> None:
        self.numbers = numbers
        self.size = 2**count
        self.width = numbers.width * self.size

    def coefficients(self, flat: Flat) -> list[Flat]:
        step = self.numbers.width
        return [flat[i : i + step] for i in range(0, len(flat), step)]

    def linear(self, x: Any, tangents: Sequence[Any]) -> Flat:
        """Returns ``x + ε_1 t_1 + …``."""
        numbers = self.numbers
        found = [numbers.constant(x.shape, x.dtype, 0)] * self.size
        found[0] = numbers.lift(x)
        for k, t in enumerate(tangents):
            found[1 << k] = numbers.lift(t)
        return flatten(found)

    def constant(self, shape: Shape, *, dtype: np.dtype[Any], value: int) -> Flat:
        """Returns 0 or 1."""
        zeros = [self.numbers.constant(shape, dtype, 0)] * (self.size - 1)
        return flatten([self.numbers.constant(shape, dtype, value), *zeros])

    def times(self, x: Flat, y: Flat, *, annihilates: bool = False) -> Flat:
        """Returns a product. With ``annihilates`` every coefficient of ``y`` is a tangent."""
        left, right = self.coefficients(x), self.coefficients(y)
        found = []
        for mask in range(self.size):
            total: Flat = ()
            for part in range(mask + 1):
                if part & ~mask:
                    continue
                term = self.numbers.times(left[part], right[mask ^ part], annihilates or mask != 0)
                total = self.numbers.plus(total, term) if total else term
            found.append(total)
        return flatten(found)

    def plus(self, x: Flat, y: Flat) -> Flat:
        return flatten(
            [self.numbers.plus(a, b) for a, b in zip(self.coefficients(x), self.coefficients(y), strict=True)]
        )

    def last(self, flat: Flat) -> Any:
        """Returns the coefficient of all ``ε``."""
        return self.numbers.lower(self.coefficients(flat)[-1])

    def affine(self, x: Flat, y: Flat) -> Flat:
        """Combines neighbours, each a product P with the sum Q of the products that begin at its first element."""
        p, q = x[: self.width], x[self.width :]
        return *self.times(p, y[: self.width]), *self.plus(q, self.times(p, y[self.width :], annihilates=True))


def flatten(parts: Sequence[Flat]) -> Flat:
    return tuple([x for part in parts for x in part])


# Products of series


class Runs(Protocol):
    """How series are combined along the first dimension."""

    def scan(self, combine: Combine, flat: Flat, unit: Unit, reverse: bool) -> Flat:
        """Returns, at each element, all elements up to there combined, or all from there on.

        Args:
          combine: an associative function of two series.
          flat: the series.
          unit: gives the unit of ``combine`` in a shape.
          reverse: whether to begin at the last element.
        """

    def products(self, numbers: Plain | Exact, flat: Flat, reverse: bool) -> Flat:
        """Returns a scan of products of numbers."""

    def apply(self, function: Callable[..., Flat], *arrays: Any) -> Flat:
        """Returns the results of a function of arrays."""


def tangent(numbers: Plain | Exact, runs: Runs, dtype: np.dtype[Any], *arrays: Any, cumulative: bool) -> Any:
    """Returns the derivative of a product, or of the products up to each element.

    Args:
      numbers: the arithmetic.
      runs: how series are combined.
      dtype: that of the arrays.
      arrays: the elements of the product, then the tangents along which it is differentiated.
      cumulative: whether the products up to each element are.
    """
    if not cumulative:
        terms = cotangent(numbers, runs, dtype, *arrays, cumulative=False)
        (out,) = runs.apply(lambda terms: (terms.sum(0),), terms)
        return out
    series = Series(numbers, len(arrays) - 1)
    flat = runs.apply(lambda x, *tangents: series.linear(x, tangents), *arrays)
    found = runs.scan(series.times, flat, partial(series.constant, dtype=dtype, value=1), False)
    (out,) = runs.apply(lambda *found: (series.last(found),), *found)
    return out


def cotangent(numbers: Plain | Exact, runs: Runs, dtype: np.dtype[Any], *arrays: Any, cumulative: bool) -> Any:
    """Returns the transpose of `tangent` by its last tangent: a cotangent for each element.

    Args:
      numbers: the arithmetic.
      runs: how series are combined.
      dtype: that of the arrays.
      arrays: the elements of the product, then the other tangents, then the cotangent.
      cumulative: whether the products up to each element are differentiated.
    """
    *given, ct = arrays
    series = Series(numbers, len(given) - 1)
    width = series.width
    one, zero = [partial(series.constant, dtype=dtype, value=value) for value in (1, 0)]
    flat = runs.apply(lambda x, *tangents: series.linear(x, tangents), *given)

    def products(reverse: bool) -> Flat:
        if series.size == 1:
            return runs.products(numbers, flat, reverse)
        return runs.scan(series.times, flat, one, reverse)

    before = products(False)
    if not cumulative:
        after = products(True)

        def finish(*values: Any) -> Flat:
            before, after = delayed(values[:width], one), _advanced(values[width:-1], one)
            others = series.coefficients(series.times(before, after))[-1]
            return (numbers.lower(numbers.times(others, numbers.lift(values[-1]), True)),)

        (out,) = runs.apply(finish, *before, *after, ct)
        return out

    def begin(*values: Any) -> Flat:
        return values[:width] + series.times(values[:width], series.linear(values[-1], ()), annihilates=True)

    def units(shape: Shape) -> Flat:
        return one(shape) + zero(shape)

    sums = runs.scan(series.affine, runs.apply(begin, *flat, ct), units, True)

    def finish_sums(*values: Any) -> Flat:
        before, after = delayed(values[:width], one), _advanced(values[width:-1], zero)
        after = series.plus(after, series.linear(values[-1], ()))
        return (series.last(series.times(before, after, annihilates=True)),)

    (out,) = runs.apply(finish_sums, *before, *sums[width:], ct)
    return out


def joined_rows(*parts: Any) -> Any:
    """Returns arrays joined along their first axis; in a staged program by an op."""
    if all(isinstance(x, np.ndarray) for x in parts):
        return np.concatenate(parts)
    return ops.concatenate(parts, 0)


def delayed(flat: Flat, unit: Unit) -> Flat:
    """Returns what is before each element, of which the first has the unit."""
    first = unit((1, *flat[0].shape[1:]))
    return tuple([joined_rows(y, x[:-1]) for x, y in zip(flat, first, strict=True)])


def _advanced(flat: Flat, unit: Unit) -> Flat:
    last = unit((1, *flat[0].shape[1:]))
    return tuple([joined_rows(x[1:], y) for x, y in zip(flat, last, strict=True)])


# Evaluation by NumPy


class Arrays:
    """Runs over NumPy arrays, by halves."""

    def apply(self, function: Callable[..., Flat], *arrays: Any) -> Flat:
        return function(*arrays)

    def products(self, numbers: Plain | Exact, flat: Flat, reverse: bool) -> Flat:
        if isinstance(numbers, Exact):
            return self.scan(Series(numbers, 0).times, flat, tuple, reverse)
        (x,) = flat
        return (np.multiply.accumulate(x[::-1])[::-1] if reverse else np.multiply.accumulate(x),)

    def scan(self, combine: Combine, flat: Flat, unit: Unit, reverse: bool) -> Flat:
        if reverse:
            found = _scanned(lambda x, y: combine(y, x), tuple([x[::-1] for x in flat]))
            return tuple([x[::-1] for x in found])
        return _scanned(combine, flat)


def _scanned(combine: Combine, flat: Flat) -> Flat:
    """Combines neighbours, scans the pairs, and finds the elements between from that, in linear work."""
    size = len(flat[0])
    if size < 2:
        return flat
    odd = _scanned(combine, combine(tuple([x[: size - 1 : 2] for x in flat]), tuple([x[1::2] for x in flat])))
    even = combine(tuple([x[: (size - 1) // 2] for x in odd]), tuple([x[2::2] for x in flat]))
    found = []
    for x, y, z in zip(flat, odd, even, strict=True):
        out = np.empty_like(x)
        out[0], out[1::2], out[2::2] = x[0], y, z
        found.append(out)
    return tuple(found)


def evaluated(plain: Callable[..., Any], exact: Callable[..., Any], *arrays: Any) -> Any:
    """Returns a result of plain arithmetic, or of exact arithmetic if a number was out of range in between.

    Args:
      plain: a function of arrays, some of which may be Python numbers.
      exact: the same function of arrays alone.
      arrays: the arguments of either.
    """
    try:
        with np.errstate(all="raise"):
            out = plain(*arrays)
    except FloatingPointError:
        pass
    else:
        if not np.logical_or.reduce(np.isnan(out), None):
            return out
    with np.errstate(all="ignore"):
        return exact(*map(np.asarray, arrays))


#: Up to this many rows, a product is computed row by row. NumPy's ``accumulate`` takes each column by itself.
_FEW_ROWS: Final = 32


def products_of_others(x: Any) -> Any:
    """Returns, for each element, the product of all others along the first dimension, in plain arithmetic.

    A floating-point error has to raise an exception.
    """
    if x.dtype.kind == "f":
        try:
            return np.multiply.reduce(x) / x
        except FloatingPointError:
            pass  # an element is zero, or the whole product is out of range
    out = np.empty_like(x)
    out[0] = 1.0
    if x.ndim == 1 or len(x) > _FEW_ROWS:
        np.multiply.accumulate(x[:-1], out=out[1:])
        out[:-1] *= np.multiply.accumulate(x[:0:-1])[::-1]
        return out
    for i in range(1, len(x)):  # the same operations, on whole rows
        np.multiply(out[i - 1], x[i - 1], out=out[i])
    after = x[-1]
    for i in range(len(x) - 2, -1, -1):
        out[i] *= after
        after = after * x[i] if i else after
    return out
