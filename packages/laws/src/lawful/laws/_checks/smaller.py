"""Shrinks counterexamples of given arguments: fewer elements, fewer dimensions, rounder numbers.

Hypothesis shrinks generated cases, because it has their choices. Given arguments have none, so they are simplified step
by step, as long as the failure remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import get_aval, is_inexact, to_numpy
from lawful.laws._checks.variants import resized
from lawful.laws._law.case import text_of_value

Args = tuple[Any, ...]

#: The number of attempts to reproduce a failure with other arguments.
MOST_ATTEMPTS: Final = 150
# Arrays of more elements are not simplified element by element.
_MOST_ELEMENTS: Final = 16


def smaller(args: Args, still_fails: Callable[[Args], bool], most: int = MOST_ATTEMPTS) -> Args:
    """Returns arguments that are as simple as could be found, and for which something still fails.

    Nothing is made empty that was not: what fails for no elements only is tried by itself.

    Args:
      args: the arguments, for which it fails.
      still_fails: whether it does for others.
      most: how often that may be asked.

    >>> smaller((np.array([0.25, 1.5, 3.75]),), lambda args: bool(np.any(args[0] > 1)))
    (array(2.),)
    """
    best, asked = args, 0
    weight = weight_of(best)
    improved = True
    while improved:
        improved = False
        for candidate in _simpler(best):
            if weight_of(candidate) >= weight:
                continue
            if asked >= most:
                return best
            asked += 1
            if still_fails(candidate):
                best, weight, improved = candidate, weight_of(candidate), True
                break
    return best


def weight_of(args: Args) -> tuple[int, int, int]:
    """Returns the complexity of arguments: number of elements, of dimensions, then length of the numbers."""
    leaves = tree.leaves(args)
    elements, ndim = sum(map(np.size, leaves)), sum(map(np.ndim, leaves))
    written = sum(len(text_of_value(x)) for x in leaves) if elements <= 10 * _MOST_ELEMENTS else 0
    return int(elements), int(ndim), 4 * written + sum(map(_roughness, leaves))


def _roughness(x: Any) -> int:
    """Returns how far numbers are from simple ones: the count of fractions, of numbers other than 0 and 1, then of
    ones.
    """
    value = np.asarray(to_numpy(x))
    wide = value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
    return sum(
        int(np.count_nonzero(wide != plain)) for plain in (np.round(wide), np.minimum(np.abs(wide), 1), 0 * wide)
    )


def _simpler(args: Args) -> Iterator[Args]:
    yield from _shorter(args)
    leaves, treedef = tree.flatten(args)
    yield tree.unflatten(treedef, [_widened(x) for x in leaves])
    numbers = [i for i, x in enumerate(leaves) if np.size(x)]
    for change in (np.zeros_like, np.ones_like, np.round, lambda x: np.round(x, 1), lambda x: np.round(x, 2)):
        yield tree.unflatten(treedef, [_changed(x, change) if i in numbers else x for i, x in enumerate(leaves)])
    for i in numbers:
        yield from (tree.unflatten(treedef, [*leaves[:i], x, *leaves[i + 1 :]]) for x in _rounder(leaves[i]))


def _shorter(args: Args) -> Iterator[Args]:
    leaves, treedef = tree.flatten(args)
    lengths = sorted({length for x in leaves for length in np.shape(x) if length > 1}, reverse=True)
    if all(np.size(x) for x in leaves):
        yield tree.unflatten(treedef, [_first(x) for x in leaves])
        yield resized(args, dict.fromkeys(lengths, range(1)))
    for length in lengths:
        for index in range(min(length, _MOST_ELEMENTS)):
            yield resized(args, {length: [index]})
        for part in (range(length // 2), range(length // 2, length), range(length - 1)):
            yield resized(args, {length: part})
    for axis in range(max(map(np.ndim, leaves), default=0)):
        yield tree.unflatten(treedef, [_without(x, axis) for x in leaves])
    for i, x in enumerate(leaves):
        for axis, length in enumerate(np.shape(x)):
            simpler = [_without(x, axis)] if length < 2 else [np.take(x, [0], axis), _without(x, axis)]
            yield from (tree.unflatten(treedef, [*leaves[:i], y, *leaves[i + 1 :]]) for y in simpler)


def _rounder(x: Any) -> Iterator[Any]:
    for change in (np.zeros_like, np.ones_like, np.round, lambda y: np.round(y, 1)):
        yield _changed(x, change)
    value = np.asarray(to_numpy(x))
    if not 1 < value.size <= _MOST_ELEMENTS:
        return
    digits = (0, 1) if is_inexact(value.dtype) else ()  # NumPy does not round booleans
    for index in np.ndindex(value.shape):
        for element in (0, 1, *[np.round(value[index], decimals) for decimals in digits]):
            simpler = value.copy()
            simpler[index] = element
            yield simpler


def _widened(x: Any) -> Any:
    value = np.asarray(to_numpy(x))
    if get_aval(x).weak_type or not is_inexact(value.dtype):
        return x
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def _changed(x: Any, change: Callable[[Any], Any]) -> Any:
    value = np.asarray(to_numpy(x))
    if not is_inexact(value.dtype) and change not in (np.zeros_like, np.ones_like):
        return x
    wide = value if value.dtype.kind in "biufc" else value.astype(np.float64)
    changed = np.asarray(change(wide)).astype(value.dtype)
    return changed.item() if get_aval(x).weak_type else changed


def _without(x: Any, axis: int) -> Any:
    """Removes an axis: takes its first element; an empty axis stays empty."""
    shape = np.shape(x)
    if axis >= len(shape):
        return x
    rest = (*shape[:axis], *shape[axis + 1 :])
    if np.size(x):
        return np.take(x, 0, axis)
    return np.zeros(rest, get_aval(x).dtype) if 0 in rest else x


def _first(x: Any) -> Any:
    return x if get_aval(x).weak_type else np.asarray(np.asarray(to_numpy(x)).reshape(-1)[0])
