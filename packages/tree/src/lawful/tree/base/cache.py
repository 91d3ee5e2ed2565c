"""Caches: bounded, named, listed by `cache_report` and cleared by `clear_caches`.

All caches of lawful are defined with this module. A cache changes speed, never results.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar, Protocol, cast, overload
from weakref import WeakSet

from lawful.tree.base.record import record

_MISSING: Any = object()


class Clearable(Protocol):
    """An entry of `cache_report`: a `Cache`, or the cache of a `cached_function`."""

    @property
    def name(self) -> str:
        """The name in the report. Several caches may share one, such as the caches of one function each."""

    @property
    def limit(self) -> int:
        """The largest number of entries."""

    @property
    def hits(self) -> int | None:
        """How many lookups found an entry; None if hits are not counted."""

    @property
    def misses(self) -> int:
        """How many lookups found none."""

    def __len__(self) -> int:
        """How many entries it holds."""

    def clear(self) -> None:
        """Removes every entry."""


class Cache[K: Hashable, V]:
    """A bounded mapping with a name.

    Entries have two generations. A new entry, and an old one that is looked up, is young. When the young ones reach
    half of the limit they become the old ones, and the old ones before them are removed: what is in use stays.

    Args:
      name: what `cache_report` lists it as.
      limit: how many entries it holds at most; 2 or more.

    Attributes:
      young: the young entries. A caller that cannot afford a method call looks here first, and counts its hit.

    >>> squares = Cache("squares", 2)
    >>> for n in range(5):
    ...     squares.insert(n, n * n)
    >>> squares.lookup(4), squares.lookup(0), len(squares)
    (16, None, 2)
    """

    __slots__ = ("__weakref__", "_half", "_lock", "_old", "hits", "limit", "misses", "name", "young")
    __hash__: ClassVar[Any] = object.__hash__

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self.young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._half = max(1, limit // 2)
        # Garbage collection may start while the lock is held and run a finalizer that inserts.
        self._lock = threading.RLock()
        register_cache(self)

    @overload
    def lookup(self, key: K) -> V | None: ...
    @overload
    def lookup[D](self, key: K, default: D) -> V | D: ...
    def lookup(self, key: K, default: Any = None) -> Any:
        """Returns the value of a key, or the default."""
        found = self.young.get(key, _MISSING)
        if found is _MISSING:
            found = self._old.get(key, _MISSING)
            if found is _MISSING:
                self.misses += 1
                return default
            self.insert(key, found)
        self.hits += 1
        return found

    def insert(self, key: K, value: V) -> None:
        """Adds an entry, and removes the oldest ones if there is no room."""
        with self._lock:
            if len(self.young) >= self._half:
                self._old, self.young = self.young, {}
            self.young[key] = value

    def values(self) -> Iterator[V]:
        """Returns the values, the young ones last."""
        young = self.young
        return iter([*[value for key, value in self._old.items() if key not in young], *young.values()])

    def __len__(self) -> int:
        return len(self.young) + len(self._old.keys() - self.young.keys())

    def clear(self) -> None:
        """Removes every entry."""
        with self._lock:
            self.young, self._old = {}, {}

    def __repr__(self) -> str:
        return f"<cache of {self.name}: {len(self)} of {self.limit}>"


class DictCache[K: Hashable, V]:
    """A bounded mapping whose lookups are those of a dict: hits are not counted, and cost nothing else.

    When it is full, an insertion removes all other entries.

    Args:
      name: what `cache_report` lists it as.
      limit: how many entries it holds at most.

    Attributes:
      entries: the same dict for as long as the cache lives; callers keep it and look keys up in it.

    >>> cache = DictCache("squares in a dict", 2)
    >>> for n in range(3):
    ...     _ = cache.insert(n, n * n)
    >>> cache.entries
    {2: 4}
    """

    __slots__ = ("__weakref__", "entries", "limit", "misses", "name")
    hits: ClassVar[None] = None

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.misses = 0
        self.entries: dict[K, V] = {}
        register_cache(self)

    def insert(self, key: K, value: V) -> V:
        """Adds an entry, and returns its value."""
        if len(self) >= self.limit:
            self.clear()
        self.misses += 1
        self.entries[key] = value
        return value

    def __len__(self) -> int:
        return len(self.entries)

    def clear(self) -> None:
        """Removes every entry."""
        self.entries.clear()


class FunctionCache:
    """The results of a function that `cached_function` made."""

    __slots__ = ("__weakref__", "_info", "clear", "limit", "name")

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.limit: int = function.cache_parameters()["maxsize"]
        self._info = function.cache_info
        self.clear: Callable[[], None] = function.cache_clear
        register_cache(self)

    @property
    def hits(self) -> int:
        """How many calls returned a cached result."""
        return cast(int, self._info().hits)

    @property
    def misses(self) -> int:
        """How many calls computed their result."""
        return cast(int, self._info().misses)

    def __len__(self) -> int:
        return cast(int, self._info().currsize)


def cached_function[F: Callable[..., Any]](name: str, limit: int, *, typed: bool = False) -> Callable[[F], F]:
    """Returns the decorator that keeps the results of a pure function of hashable arguments.

    Args:
      name: what `cache_report` lists it as.
      limit: how many results are kept; the one that was used longest ago goes first.
      typed: whether equal arguments of different types are different arguments.

    >>> @cached_function("squares of the docstring", 8)
    ... def square(n):
    ...     return n * n
    >>> square(3), square(3)
    (9, 9)
    """

    def decorate(function: F) -> F:
        cached = functools.lru_cache(maxsize=limit, typed=typed)(function)
        cached.cache = FunctionCache(name, cached)  # type: ignore[attr-defined]  # as long as the function lives
        return cast(F, cached)

    return decorate


_caches: WeakSet[Clearable] = WeakSet()
_lock = threading.Lock()


def register_cache(cache: Clearable) -> None:
    """Adds a cache to `cache_report` and `clear_caches`. It is referenced weakly.

    >>> class Squares:
    ...     name, limit, hits, misses = "squares of register_cache", 16, None, 3
    ...
    ...     def __len__(self):
    ...         return 3
    ...
    ...     def clear(self):
    ...         pass
    >>> squares = Squares()
    >>> register_cache(squares)
    >>> [use for use in cache_report().caches if use.name == squares.name]
    [CacheUse(name='squares of register_cache', caches=1, size=3, limit=16, hits=None, misses=3)]
    """
    with _lock:
        _caches.add(cache)


def _registered() -> list[Clearable]:
    with _lock:
        # A WeakSet has a wrong length while another thread collects garbage, and `list` would ask for it.
        return [cache for cache in _caches]  # noqa: C416


@record
class CacheUse:
    """One line of `cache_report`.

    Attributes:
      name: of the cache, or of several of one kind.
      caches: how many there are of this name.
      size: how many entries they hold.
      limit: how many each holds at most.
      hits: how many lookups found an entry; None where nobody counts.
      misses: how many found none.

    >>> CacheUse("squares", caches=1, size=3, limit=16, hits=7, misses=3).size
    3
    """

    name: str
    caches: int
    size: int
    limit: int
    hits: int | None
    misses: int


@record
class CacheReport:
    """The result of `cache_report`; as text, a table.

    Attributes:
      caches: a line for each name.

    >>> CacheReport((CacheUse("squares", caches=1, size=3, limit=16, hits=7, misses=3),))
    cache    caches  size  limit  hits  misses
    squares       1     3     16     7       3
    """

    caches: tuple[CacheUse, ...]

    def __str__(self) -> str:
        titles = ("cache", "caches", "size", "limit", "hits", "misses")
        hits = ["-" if use.hits is None else use.hits for use in self.caches]
        rows = [
            titles,
            *[
                (use.name, *map(str, (use.caches, use.size, use.limit, found, use.misses)))
                for use, found in zip(self.caches, hits, strict=True)
            ],
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [[name.ljust(widths[0]), *map(str.rjust, rest, widths[1:])] for name, *rest in rows]
        return "\n".join(map("  ".join, lines))

    __repr__ = __str__


def cache_report() -> CacheReport:
    """Returns every cache with its size, limit, hits and misses.

    >>> "squares of the report" in str(cache_report())
    False
    >>> cache = Cache("squares of the report", 16)
    >>> "squares of the report" in str(cache_report())
    True
    """
    by_name: dict[str, list[Clearable]] = {}
    for cache in _registered():
        by_name.setdefault(cache.name, []).append(cache)
    return CacheReport(
        tuple(
            CacheUse(
                name,
                len(caches),
                sum(len(cache) for cache in caches),
                max(cache.limit for cache in caches),
                _total_hits(caches),
                sum(cache.misses for cache in caches),
            )
            for name, caches in sorted(by_name.items())
        )
    )


def _total_hits(caches: list[Clearable]) -> int | None:
    counts = [cache.hits for cache in caches]
    return None if None in counts else sum(filter(None, counts))


def clear_caches() -> None:
    """Removes every entry of every cache: traces, transformed jaxprs, cached rules, compiled programs.

    Law: no result changes.

    >>> cache = Cache("squares of clear_caches", 16)
    >>> _ = cache.insert(2, 4)
    >>> clear_caches()
    >>> len(cache)
    0

    Source: ``jax.clear_caches``.
    """
    for cache in _registered():
        cache.clear()
