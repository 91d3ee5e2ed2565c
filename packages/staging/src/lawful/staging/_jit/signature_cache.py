"""The caches of ``jit``: the traces of a function, by signature."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, Final
from weakref import ref

from lawful.core import Cache
from lawful.staging._jit.entry import Entry

#: How many signatures of one function are kept.
_MOST_SIGNATURES = 2048
_ATTRIBUTE: Final = "__lawful_jit_caches__"
_lock: Final = threading.Lock()


class SignatureCache(Cache[Hashable, Entry]):
    """The traces of a function by signature.

    Attributes:
      accelerated: data of an accelerator of calls; None at first and after `clear`.
    """

    __slots__ = ("accelerated",)

    def __init__(self) -> None:
        super().__init__("jit signatures", _MOST_SIGNATURES)
        self.accelerated: Any = None

    def clear(self) -> None:
        """Removes every trace."""
        super().clear()
        self.accelerated = None


class Caches:
    """The caches of one function: one for all `jit`s of it with the same options.

    They are an attribute of the function, and die with it also where they lead back to it: a Python function that a
    program calls may close over the function that was traced. For a callable of another type they live in its `jit`.
    """

    __slots__ = ("__weakref__", "_by_options", "owner")

    def __init__(self, owner: FunctionType | None = None) -> None:
        self.owner = None if owner is None else ref(owner)
        self._by_options: dict[Hashable, SignatureCache] = {}

    def with_options(self, options: Hashable) -> SignatureCache:
        """Returns the cache of the `jit`s with some options."""
        with _lock:
            if options not in self._by_options:
                self._by_options[options] = SignatureCache()
            return self._by_options[options]

    def __len__(self) -> int:
        return len(self._by_options)

    def __reduce__(self) -> tuple[object, ...]:
        return Caches, ()  # compiled programs stay in their process


def caches_of(function: Callable[..., Any]) -> Caches:
    """Returns the caches of a function."""
    if type(function) is not FunctionType:
        return Caches()
    with _lock:
        found = function.__dict__.get(_ATTRIBUTE)
        # A function that wraps another one has a copy of its attributes.
        if found is None or found.owner is None or found.owner() is not function:
            found = function.__dict__[_ATTRIBUTE] = Caches(function)
    caches: Caches = found
    return caches
