"""`jit` keeps nothing of a function that is gone, and a bounded number of signatures of one that is not."""

import functools
import gc
import pickle
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


def test_jit_function_that_wraps_another_has_traces_of_its_own() -> None:
    def f(x: Any) -> Any:
        return x + 1.0

    assert jit(f)(1.0) == 2.0

    @functools.wraps(f)
    def g(x: Any) -> Any:
        return x * 10.0

    assert (jit(g)(2.0), jit(f)(2.0)) == (20.0, 3.0)


def test_jit_pickled_function_has_no_cached_traces() -> None:
    """A function that `jit` has traced is pickled without its cached traces."""

    def f(x: Any) -> Any:
        return x + 1.0

    jit(f)(1.0)
    assert [len(value) for value in pickle.loads(pickle.dumps(vars(f))).values()] == [0]


def number_of_living() -> int:
    """Returns how many objects there are, but for weak references to none: some wait to be swept, and are bounded.

    A cache by the addresses of arrays has pairs of them, until the address is used again. The free-threaded build of
    Python uses few addresses again.
    """
    gc.collect()
    return sum(not is_dead(x) and not (type(x) is tuple and x and all(map(is_dead, x))) for x in gc.get_objects())


def is_dead(x: Any) -> bool:
    return isinstance(x, weakref.ref) and x() is None


@pytest.mark.frees
def test_jit_ten_thousand_fresh_closures_leave_nothing_behind() -> None:
    class Token:
        pass

    def fresh() -> weakref.ref[Any]:
        token = Token()
        array = np.ones(2)

        def f(x: Any) -> Any:
            assert token
            return x * array

        jit(f)(np.ones(2))
        return weakref.ref(token)

    for _ in range(50):  # fills caches that every function shares
        fresh()
    before = number_of_living()
    refs = [fresh() for _ in range(10_000)]
    gc.collect()
    assert not any(ref() for ref in refs)
    del refs
    assert number_of_living() - before < 500


def test_jit_closure_is_freed_without_the_collector_of_cycles() -> None:
    class Token:
        pass

    gc.collect()
    gc.disable()
    try:
        token = Token()
        ref = weakref.ref(token)

        def f(x: Any, token: Any = token) -> Any:
            return x

        g = jit(f)
        g(1.0)
        del f, g, token
        assert ref() is None
    finally:
        gc.enable()


def test_jit_signatures_of_one_function_are_bounded(monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    monkeypatch.setattr("lawful.staging._jit.signature_cache._MOST_SIGNATURES", 8)
    f = counted(lambda n: n)
    g = jit(f, static_argnums=0)
    for n in range(100):
        assert g(n) == n
    assert 4 <= len(g._cache) <= 8
    g(99)
    assert f.calls == 100, "the last ones are kept"
    g(0)
    assert f.calls == 101, "the first ones are not"
