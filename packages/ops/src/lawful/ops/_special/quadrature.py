"""Sums over the nodes of a quadrature rule, for algorithms of special functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.ops._special.parts import Parts, plus
from lawful.ops._support.double import is_staged


def sum_over_nodes(function: Callable[..., Any], x: Any, *columns: Sequence[float]) -> Any:
    """Returns the sum of ``function(*row)`` over rows of numbers, such as the nodes and weights of a rule.

    A staged program evaluates the function once, of longer arrays, so that it is short.

    Args:
      function: elementwise; it returns an array of the shape of ``x``.
      x: an array, by which a staged program is known.
      columns: sequences of numbers, of one length.
    """
    if is_staged(x):
        return function(*_stacked(x, columns)).sum(0)
    total: Any = 0.0
    for row in zip(*columns, strict=True):
        total = total + function(*row)
    return total


def sum_of_parts_over_nodes(function: Callable[..., Parts], x: Any, *columns: Sequence[float]) -> Parts:
    """Returns `sum_over_nodes` of a function of complex values, given as their parts."""
    if is_staged(x):
        re, im = function(*_stacked(x, columns))
        return re.sum(0), im.sum(0)
    total: Parts = (0.0, 0.0)
    for row in zip(*columns, strict=True):
        total = plus(total, function(*row))
    return total


def _stacked(x: Any, columns: Sequence[Sequence[float]]) -> list[Any]:
    """Returns columns as arrays of one more dimension than ``x``."""
    shape = (len(columns[0]),) + (1,) * x.ndim
    return [np.array(column).reshape(shape) for column in columns]


def gauss_legendre(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns nodes and weights for the integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return tuple(((nodes + 1) / 2).tolist()), tuple((weights / 2).tolist())


def gauss_legendre_of_even(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns nodes and weights for the integral of an even function from 0 to 1, by a rule of twice as many nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * count)
    return tuple(nodes[count:].tolist()), tuple(weights[count:].tolist())
