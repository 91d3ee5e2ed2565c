"""Who may write into a NumPy array: constants are frozen, and results share memory with nothing else.

NumPy's arrays are mutable and its operations give views. What a transformation keeps must not change when the user
writes into an array, and what it gives back must not change anything else when the user writes into that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def freeze(x: Any) -> Any:
    """Returns an array that nobody can write into: a copy, if ``x`` is a NumPy array that somebody can."""
    if type(x) is not np.ndarray:
        return x
    owner = x
    while type(owner.base) is np.ndarray:
        owner = owner.base
    if owner.base is None and not x.flags.writeable and not owner.flags.writeable:
        return x
    if any([stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape, strict=True)]) and x.size:
        # What is broadcast stays so.
        once = x[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in x.strides)].copy()
        once.flags.writeable = False
        return np.broadcast_to(once, x.shape)
    x = x.copy()
    x.flags.writeable = False
    return x


def memory_owner(x: Any) -> Any:
    """Returns what the memory of an array belongs to: itself, what it is a view of, or what that was made of."""
    while getattr(x, "base", None) is not None:
        x = x.base
    return x


def same_bytes(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape and dtype hold the same; NaN equals itself, and 0.0 is not -0.0."""
    itemsize = a.dtype.itemsize
    if itemsize > 8:
        return bool(a.tobytes() == b.tobytes())
    return bool((a.view(f"u{itemsize}") == b.view(f"u{itemsize}")).all())


def _is_own(x: Any) -> bool:
    """Whether a value is no array, or one that has its memory itself, and can be written into."""
    return type(x) is not np.ndarray or (x.base is None and x.flags.writeable)


def own_results(results: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Returns results that can be written into and share no memory with each other or with other values.

    Args:
      results: arrays, scalars or tracers, of which only NumPy's arrays can share memory.
      others: values that stay in use: arguments, constants, residuals.
    """
    ids = {*map(id, results)}
    if len(ids) == len(results) and ids.isdisjoint(map(id, others)) and all(map(_is_own, results)):
        return [*results]  # as mostly
    seen = {*map(id, others)}
    owned = []
    for x in results:
        if type(x) is np.ndarray:
            if not _is_own(x) or id(x) in seen:
                x = x.copy()
            seen.add(id(x))
        owned.append(x)
    return owned
