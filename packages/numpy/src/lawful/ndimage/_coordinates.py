"""Values of an array between its elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.special._arguments import silent


def _mirrored(i: Any, size: int) -> Any:
    period = 2 * max(size - 1, 1)
    return ops.abs(np.mod(i + (size - 1), period) - (size - 1)) if size > 1 else ops.mul(i, 0)


def _reflected(i: Any, size: int) -> Any:
    return np.minimum(np.mod(i, 2 * size), 2 * size - 1 - np.mod(i, 2 * size))


#: Which position inside of a dimension stands for any position, both as floats that are whole numbers.
_POSITIONS: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda i, size: np.clip(i, 0, size - 1),
    "nearest": lambda i, size: np.clip(i, 0, size - 1),
    "wrap": np.mod,
    "mirror": _mirrored,
    "reflect": _reflected,
}


@silent
def map_coordinates(input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0) -> Any:
    """Returns the values of an array at coordinates, by interpolation.

    Args:
      input: an array without empty dimensions. Results have its dtype; those of integers are rounded, half away from 0.
      coordinates: for each dimension an array of positions; all of one shape.
      order: 1 for multilinear interpolation; 0 for the nearest element, of two the one farther from 0.
      mode: what there is outside of the array: ``"constant"`` a value everywhere; ``"nearest"`` the elements at the
        edge; ``"wrap"`` the array again, as SciPy's ``"grid-wrap"``; ``"mirror"`` its mirror image at the middle of the
        elements at the edge, or ``"reflect"`` at their outer side.
      cval: the value. Between it and an element at the edge there is interpolation, as in SciPy's ``"grid-constant"``.

    Returns:
      An array of the shape of the coordinates. NaN as a coordinate gives NaN, or for order 0 what is outside.

    Raises:
      ArgumentValueError: there is not an array of coordinates for each dimension, or no such order or mode, or the
        array is empty.

    >>> map_coordinates(np.array([0.0, 10.0, 40.0]), [np.array([-1.0, 2.5])], order=1, mode="reflect")
    array([ 0., 40.])

    Source: ``scipy.ndimage.map_coordinates``, ``jax.scipy.ndimage.map_coordinates``.
    """
    aval = get_aval(input)
    if isinstance(order, bool) or order not in (0, 1):
        raise ArgumentValueError(f"map_coordinates: expected an order of 0 or 1, got {order!r}; there are no splines")
    if mode not in _POSITIONS:
        raise ArgumentValueError(f"map_coordinates: expected a mode of {', '.join(_POSITIONS)}, got {mode!r}")
    if len(coordinates) != aval.ndim or not aval.size:
        raise ArgumentValueError(
            f"map_coordinates: expected coordinates for each dimension of an array with elements, got {aval} and "
            f"{len(coordinates)} of them"
        )
    if not aval.ndim:
        return np.asarray(input)
    places = inexact("map_coordinates", *[np.asarray(x) for x in coordinates], linear_algebra=False)
    # The neighbours along each dimension: their positions, whether they are inside, and their weights.
    neighbours = [_neighbours(x, size, order, mode) for x, size in zip(places, aval.shape, strict=True)]
    outside = ops.convert_element_type(cval, aval.dtype)
    total: Any = None
    for corner in itertools.product(*neighbours):
        value = input[tuple(position for position, _, _ in corner)]
        if mode == "constant":
            inside = corner[0][1]
            for _, more, _ in corner[1:]:
                inside = ops.bitwise_and(inside, more)
            value = ops.where(inside, value, outside)
        for _, _, weight in corner:
            value = value if weight is None else np.multiply(value, weight)
        total = value if total is None else np.add(total, value)
    if aval.dtype.kind in "biu" and get_aval(total).dtype.kind == "f":
        total = ops.round(total)
    return ops.convert_element_type(total, aval.dtype)


def _neighbours(x: Any, size: int, order: int, mode: str) -> list[tuple[Any, Any, Any]]:
    if mode == "constant":
        x = np.clip(x, -2, size + 1)  # also infinity, and all the same outside
    elif mode == "nearest":
        x = np.clip(x, 0, size - 1)
    if order == 0:
        nearest = ops.round(x)
        return [_element(nearest, size, mode, None)]
    low = np.floor(x)
    high_weight = x - low
    return [_element(low, size, mode, 1 - high_weight), _element(low + 1, size, mode, high_weight)]


def _element(i: Any, size: int, mode: str, weight: Any) -> tuple[Any, Any, Any]:
    """Returns the position of an element as an integer, whether it is inside, and its weight."""
    inside = ops.bitwise_and(ops.ge(i, 0), ops.le(i, size - 1))
    position = _POSITIONS[mode](i, size)
    position = ops.where(ops.bitwise_not(np.isfinite(position)), 0, position)
    return ops.convert_element_type(position, numpy.int64), inside, weight
