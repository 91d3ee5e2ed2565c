"""Copies of NumPy arrays: constants are read-only copies, and results share memory with nothing else.

NumPy's arrays are mutable, and its operations return views. A value that a transformation keeps must not change when
the user writes into an array. A result that the user writes into must not change any other value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import ref

import numpy as np

from lawful.core import DictCache, current

#: Up to this many bytes, a copy takes less time than an array of truth values.
_FEW_BYTES: Final = 4_096
#: From so many bytes on, a second copy costs more than looking for the first.
_MANY_BYTES: Final = 65_536
#: By id of an array, weak references to it and to its read-only copy. The copy is used again for as long as something
#: else holds it, so that an array that several traces close over is one constant.
_copies: Final[DictCache[int, tuple[Callable[[], Any], Callable[[], Any]]]] = DictCache(
    "read-only copies of arrays", 1_024
)


def read_only(x: Any) -> Any:
    """Returns a read-only array: ``x`` itself unless it is a NumPy array that somebody can write into.

    While a program is recorded, and for large arrays always, it is the same copy for as long as that lives and ``x``
    has the same bits.

    >>> x = np.zeros(2)
    >>> copy = read_only(x)
    >>> copy.flags.writeable, read_only(copy) is copy
    (False, True)
    """
    if type(x) is not np.ndarray:
        if type(x) is not np.memmap:
            return x
        x = x.view(np.ndarray)
    owner = x
    while type(owner.base) is np.ndarray:
        owner = owner.base
    if owner.base is None and not x.flags.writeable and not owner.flags.writeable:
        return x
    if x.nbytes < _MANY_BYTES and current.trace.evaluates_constants:
        return _copied(x)
    known = _copies.entries.get(id(x))
    if known is not None and known[0]() is x:
        copy = known[1]()
        if copy is not None and (copy.shape, copy.dtype) == (x.shape, x.dtype) and same_bytes(copy, x):
            return copy
    copy = _copied(x)
    _copies.insert(id(x), (ref(x), ref(copy)))
    return copy


def _copied(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns a read-only copy of an array."""
    repeats = 0 in x.strides and x.size > 0
    if repeats and any([stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape, strict=True)]):
        # A broadcast array stays one: only the elements in memory are copied.
        once = x[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in x.strides)].copy()
        once.flags.writeable = False
        return np.broadcast_to(once, x.shape)
    x = x.copy()
    x.flags.writeable = False
    return x


def memory_owner(x: Any) -> Any:
    """Returns the object that owns the memory of an array: the array itself, or the last of its bases.

    >>> x = np.zeros(4)
    >>> memory_owner(x[1:][:2]) is x
    True
    """
    while getattr(x, "base", None) is not None:
        x = x.base
    return x


def same_bytes(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape and dtype have the same bits: NaN equals itself, and 0.0 is not -0.0."""
    itemsize = a.dtype.itemsize
    if itemsize > 8 or a.nbytes <= _FEW_BYTES:
        return bool(a.tobytes() == b.tobytes())
    return bool((a.view(f"u{itemsize}") == b.view(f"u{itemsize}")).all())


def _is_own(x: Any) -> bool:
    """Whether a value is not an array, or is a writable one that owns its memory."""
    return type(x) is not np.ndarray or (x.base is None and x.flags.writeable)


def copy_aliased(results: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Returns writable results that share no memory with each other or with other values: aliased ones are copied.

    Args:
      results: arrays, scalars or tracers; only NumPy arrays can share memory.
      others: values that stay in use: arguments, constants, residuals.

    >>> x = np.zeros(2)
    >>> copy, other = copy_aliased([x, np.ones(2)], [x])
    >>> copy is x, copy
    (False, array([0., 0.]))
    """
    ids = {*map(id, results)}
    if len(ids) == len(results) and ids.isdisjoint(map(id, others)) and all(map(_is_own, results)):
        return [*results]  # the common case
    seen = {*map(id, others)}
    owned = []
    for x in results:
        if type(x) is np.ndarray:
            if not _is_own(x) or id(x) in seen:
                x = x.copy()
            seen.add(id(x))
        owned.append(x)
    return owned
