"""Interpolation on a grid whose lines are parallel to the axes, at any distances."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops, tree
from lawful.core import ArgumentValueError, Tracer, get_aval
from lawful.numpy.linalg._matrices import inexact


@tree.register_node_class
class RegularGridInterpolator:
    """A function of points that interpolates values on a grid. It is a pytree of the grid, the values and the fill.

    Args:
      points: for each dimension the coordinates of the grid, ascending or descending; traced ones are not checked.
      values: the values, whose first dimensions are those of the grid; integers become floats.
      method: ``"linear"``, or ``"nearest"``, the lower one of two that are as near.
      bounds_error: False only: a compiled program cannot raise an error.
      fill_value: the result outside of the grid; None to extrapolate from the outermost cells.

    Raises:
      ArgumentValueError: the coordinates are not monotonic or not as many as values, there is no such method, or
        ``bounds_error`` is True.

    Calling it with points of shape (…, n), or with a tuple of n arrays that broadcast, returns the values there: an
    array of the points' shape without the last dimension, with the other dimensions of the values. A second argument is
    the method.

    >>> plane = RegularGridInterpolator((np.arange(2.0), np.arange(3.0)), np.arange(6.0).reshape(2, 3))
    >>> plane(np.array([[0.5, 1.5], [0.0, 9.0]]))
    array([ 3., nan])

    Source: ``scipy.interpolate.RegularGridInterpolator``.
    """

    grid: tuple[Any, ...]
    values: Any
    method: str
    bounds_error: bool
    fill_value: Any

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = numpy.nan,
    ) -> None:
        _check_method(method)
        if bounds_error:
            raise ArgumentValueError(
                "RegularGridInterpolator: expected bounds_error=False, got True, which compiled programs cannot do; "
                "look for fill_value in the result"
            )
        [values] = inexact("RegularGridInterpolator", np.asarray(values), linear_algebra=False)
        grid = inexact("RegularGridInterpolator", *[np.asarray(p) for p in points], linear_algebra=False)
        shape = get_aval(values).shape
        sizes = [get_aval(p).shape for p in grid]
        if len(grid) > len(shape) or sizes != [(size,) for size in shape[: len(grid)]] or (0,) in sizes:
            raise ArgumentValueError(
                f"RegularGridInterpolator: expected as many coordinates as values along each dimension, at least one, "
                f"got the shapes {sizes} and {shape}"
            )
        for axis, p in enumerate(grid):
            if not isinstance(p, Tracer) and not _is_monotonic(numpy.asarray(p)):
                raise ArgumentValueError(
                    f"RegularGridInterpolator: expected ascending or descending coordinates, got others in dimension "
                    f"{axis}; sort them, with the values"
                )
            descends = p[0] > p[-1]
            grid[axis] = np.where(descends, np.flip(p), p)
            values = np.where(descends, np.flip(values, axis), values)
        self.grid, self.values, self.method, self.bounds_error = tuple(grid), values, method, False
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: str | None = None) -> Any:
        """Returns the values at points."""
        method = self.method if method is None else method
        _check_method(method)
        count = len(self.grid)
        if isinstance(xi, tuple):
            xi = np.stack(np.broadcast_arrays(*xi), axis=-1)
        [xi] = inexact("RegularGridInterpolator", np.asarray(xi), linear_algebra=False)
        if get_aval(xi).ndim == 1:
            xi = np.reshape(xi, (-1, count))
        shape = get_aval(xi).shape
        if not shape or shape[-1] != count:
            raise ArgumentValueError(
                f"RegularGridInterpolator: expected points of {count} coordinates, got {get_aval(xi)}"
            )
        [points, *grid] = inexact("RegularGridInterpolator", np.reshape(xi, (-1, count)), *self.grid)
        places = [_place(g, points[:, i]) for i, g in enumerate(grid)]
        found = self._nearest(places) if method == "nearest" else self._linear(places)
        others = get_aval(self.values).ndim - count
        isnan = np.any(np.isnan(points), axis=-1)
        found = np.where(_with_dims(isnan, others), numpy.nan, found)
        if self.fill_value is not None:
            inside = [(g[0] <= points[:, i]) & (points[:, i] <= g[-1]) for i, g in enumerate(grid)]
            outside = ~np.all(np.stack(inside), axis=0) & ~isnan
            fill = ops.convert_element_type(self.fill_value, get_aval(found).dtype)
            found = np.where(_with_dims(outside, others), fill, found)
        return np.reshape(found, (*shape[:-1], *get_aval(found).shape[1:]))

    def tree_flatten(self) -> tuple[Any, str]:
        """Returns the arrays, and the method."""
        return (self.grid, self.values, self.fill_value), self.method

    @classmethod
    def tree_unflatten(cls, method: str, children: Any) -> RegularGridInterpolator:
        """Returns the interpolator of such arrays and method."""
        x = object.__new__(cls)
        x.grid, x.values, x.fill_value = children
        x.method, x.bounds_error = method, False
        return x

    def _linear(self, places: list[tuple[Any, Any, Any]]) -> Any:
        others = get_aval(self.values).ndim - len(places)
        total: Any = 0.0
        for corner in itertools.product((0, 1), repeat=len(places)):
            weight: Any = None
            for side, (_, _, high) in zip(corner, places, strict=True):
                factor = high if side else 1 - high
                weight = factor if weight is None else weight * factor
            value = self.values[tuple(place[side] for side, place in zip(corner, places, strict=True))]
            total = total + value * (1.0 if weight is None else _with_dims(weight, others))
        return total

    def _nearest(self, places: list[tuple[Any, Any, Any]]) -> Any:
        return self.values[tuple(np.where(high <= 0.5, i, j) for i, j, high in places)]


def _is_monotonic(x: Any) -> bool:
    steps = numpy.diff(x)
    return bool(numpy.all(steps > 0) or numpy.all(steps < 0))


def _with_dims(x: Any, count: int) -> Any:
    return np.reshape(x, (*get_aval(x).shape, *(1,) * count))


def _place(grid: Any, x: Any) -> tuple[Any, Any, Any]:
    """Returns the elements of the grid before and after points, and the weight of the one after."""
    size = get_aval(grid).shape[0]
    low = np.clip(np.searchsorted(grid, x) - 1, 0, max(size - 2, 0))
    high = np.minimum(low + 1, size - 1)
    if size == 1:
        return low, high, ops.mul(x, 0)
    return low, high, (x - grid[low]) / (grid[high] - grid[low])


def _check_method(method: str) -> None:
    if method not in ("linear", "nearest"):
        raise ArgumentValueError(
            f"RegularGridInterpolator: expected method='linear' or 'nearest', got {method!r}; choose one"
        )
