"""Caches are bounded, keep what is in use, and are listed and cleared together."""

import gc
from collections import namedtuple
from typing import Any

import pytest

from lawful import tree
from lawful.tree.base import Cache, DictCache, cache_report, cached_function, clear_caches


def use_of(name: str) -> Any:
    """Returns the line of a name in the report, or None."""
    return next((use for use in cache_report().caches if use.name == name), None)


@pytest.mark.parametrize("limit", [2, 7, 100])
@pytest.mark.parametrize("cls", [Cache, DictCache])
def test_cache_stays_within_its_limit(cls: Any, limit: int) -> None:
    cache = cls("bounded", limit)
    for n in range(5 * limit):
        cache.insert(n, n)
        assert 1 <= len(cache) <= limit
    use = use_of("bounded")
    assert (use.size, use.limit) == (len(cache), limit)
    clear_caches()
    assert len(cache) == 0


def test_cached_function_stays_within_its_limit() -> None:
    calls = []

    @cached_function("bounded function", 8)
    def double(n: int) -> int:
        calls.append(n)
        return 2 * n

    assert [double(n) for n in range(100)] == [2 * n for n in range(100)]
    assert double(99) == 198
    use = use_of("bounded function")
    assert (use.size, use.limit, use.hits, use.misses) == (8, 8, 1, 100)
    clear_caches()
    assert use_of("bounded function").size == 0
    assert double(99) == 198
    assert len(calls) == 101


def test_cache_keeps_entries_in_use() -> None:
    cache: Cache[int, int] = Cache("in use", 8)
    cache.insert(-1, 1)
    for n in range(100):
        cache.insert(n, n)
        assert cache.lookup(-1) == 1


def test_cache_report_counts_hits_where_they_are_counted() -> None:
    cache: Cache[int, int] = Cache("counted", 8)
    cache.insert(1, 1)
    cache.lookup(1), cache.lookup(2)
    fast: DictCache[int, int] = DictCache("not counted", 8)
    fast.insert(1, 1)
    assert (use_of("counted").hits, use_of("counted").misses) == (1, 1)
    assert (use_of("not counted").hits, use_of("not counted").misses) == (None, 1)
    assert len({len(line) for line in str(cache_report()).splitlines()}) == 1
    del cache
    gc.collect()
    assert use_of("counted") is None


def test_structures_are_bounded_and_survive_clear_caches() -> None:
    """Structures from before and after are equal, those with types that are not registered too."""
    Pair = namedtuple("Pair", ["one", "other"])  # a type made at run time
    before = tree.structure([Pair(1, (2,)), {"a": 3}])
    for n in range(700):
        tree.structure([(0,)] * n)
    use = use_of("tree structures")
    assert 0 < use.size <= use.limit
    clear_caches()
    assert (use_of("tree structures").size, use_of("types in trees").size) == (0, 0)
    after = tree.structure([Pair(1, (2,)), {"a": 3}])
    assert before == after
    assert hash(before) == hash(after)
    assert tree.unflatten(before, [1, 2, 3]) == [Pair(1, (2,)), {"a": 3}]
