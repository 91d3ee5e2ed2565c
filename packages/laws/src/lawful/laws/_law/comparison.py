"""Whether two pytrees of arrays are equal: in structure, shape, dtype, weakness, and value up to rounding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lawful import tree
from lawful.core import get_aval, is_inexact, to_numpy
from lawful.laws._law.tolerance import tolerances

#: The allowed difference: rounding, the error of finite differences, or none.
Closeness = Literal["rounding", "differences", "nothing"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two values: where, in which way, and by how much, relative to the larger one."""

    path: str
    explanation: str
    size: float | None = None

    def __str__(self) -> str:
        return f"at result{self.path}: {self.explanation}"


def find_difference(
    left: Any,
    right: Any,
    closeness: Closeness = "rounding",
    *,
    weakness: bool = False,
    through: Iterable[np.dtype[Any]] = (),
    by_element: bool = False,
) -> Difference | None:
    """Returns the first leaf in which two pytrees differ, or None if they are equal.

    Args:
      left: a pytree of arrays.
      right: a pytree of arrays.
      closeness: what their elements may differ by. NaN equals NaN.
      weakness: whether one leaf stands for a Python scalar only if the other one does.
      through: floating dtypes that the computation goes through: the least precise one counts.
      by_element: whether each element has a scale of its own, not the largest of all.
    """
    left_leaves, left_tree = tree.flatten(left)
    right_leaves, right_tree = tree.flatten(right)
    if left_tree != right_tree:
        return Difference("", f"the trees are {left_tree} and {right_tree}")
    dtypes = tuple(through)
    for i, (x, y) in enumerate(zip(left_leaves, right_leaves, strict=True)):
        found = _leaf_difference("", x, y, closeness, weakness, dtypes, by_element)
        if found is not None:
            return replace(found, path=tree.keystr(tree.leaves_with_path(left)[i][0]))
    return None


def _leaf_difference(
    path: str,
    x: Any,
    y: Any,
    closeness: Closeness,
    weakness: bool,
    through: tuple[np.dtype[Any], ...],
    by_element: bool,
) -> Difference | None:
    left, right = get_aval(x), get_aval(y)
    if not weakness:
        left, right = left.update(weak_type=False), right.update(weak_type=False)
    if left != right:
        return Difference(path, f"the types are {left} and {right}")
    a, b = np.asarray(to_numpy(x)), np.asarray(to_numpy(y))
    if not is_inexact(left.dtype):
        if np.array_equal(a, b):
            return None
        return Difference(path, f"{int(np.sum(a != b))} of {a.size} elements differ")
    return _float_difference(path, a, b, closeness, through, by_element)


def _float_difference(
    path: str,
    x: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any],
    closeness: Closeness,
    through: tuple[np.dtype[Any], ...],
    by_element: bool,
) -> Difference | None:
    bounds = [tolerances[dtype] for dtype in (x.dtype, *through)]
    allowed = {
        "rounding": max(bound.rounding for bound in bounds),
        "differences": max(bound.differences for bound in bounds),
        "nothing": 0.0,
    }[closeness]
    if x.tobytes() == y.tobytes():  # the common case: 10× faster than measuring the difference
        return None
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    a, b = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        if wide is np.complex128:
            _drop_equal_infinities(a, b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        finite = np.isfinite(a) & np.isfinite(b)
        if not np.all(same | finite):
            return Difference(path, "an element is finite in one and not in the other")
        # Divided by 4, because a sum or difference of the largest numbers overflows.
        distance = np.where(same, 0.0, np.abs(a / 4 - b / 4))
        sizes = 0.25 + np.where(finite, np.maximum(np.abs(a / 4), np.abs(b / 4)), 0.0)
        ratios = distance / (sizes if by_element else np.max(sizes, initial=0.25))
    largest = float(np.max(ratios, initial=0.0))
    if largest <= allowed:
        return None
    scale = 4 * float(np.max(sizes, initial=0.25))
    return Difference(path, f"the largest difference is {largest:.3g} of {scale:.3g}, more than {allowed:.3g}", largest)


def _drop_equal_infinities(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
    """Replaces parts of complex numbers by zero where both are the same infinity: the others are compared."""
    for one, other in ((a.real, b.real), (a.imag, b.imag)):
        infinite = np.isinf(one) & (one == other)
        one[infinite] = other[infinite] = 0.0
