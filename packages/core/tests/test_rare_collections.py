"""Python's garbage collector: collections are rare where a user asks for it, and left as they were afterwards."""

import gc
import sysconfig
import threading
from collections.abc import Iterator

import pytest

from lawful.core import Trace, eval_trace, new_trace, rare_collections
from lawful.core._garbage_collection import _DEFAULT as USUAL
from lawful.core._garbage_collection import _RARE as RARE


@pytest.fixture(autouse=True)
def _the_usual_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, USUAL)
    yield
    gc.set_threshold(*before)


def oldest() -> int:
    return gc.get_threshold()[2]


def test_rare_collections_new_trace_leaves_thresholds_alone() -> None:
    with new_trace(Trace(eval_trace, "test")):
        assert gc.get_threshold() == (700, 10, USUAL)


def test_rare_collections_within_and_outside() -> None:
    with rare_collections():
        assert gc.get_threshold() == (700, 10, RARE)
        with rare_collections():
            assert oldest() == RARE
        assert oldest() == RARE, "the outer one goes on"
    assert gc.get_threshold() == (700, 10, USUAL)


def test_rare_collections_after_an_error() -> None:
    with pytest.raises(KeyError), rare_collections():
        raise KeyError
    assert oldest() == USUAL


@pytest.mark.parametrize("chosen", [(700, 10, 50), (0, 10, 5), (700, 10, 0)])
def test_rare_collections_thresholds_of_the_users_are_kept(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with rare_collections():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_rare_collections_what_the_user_sets_meanwhile_stays() -> None:
    with rare_collections():
        gc.set_threshold(1_000, 20, 30)
    assert gc.get_threshold() == (1_000, 20, 30)


def test_rare_collections_last_of_several_threads_ends_it() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with rare_collections():
            inside.set()
            assert leave.wait(10)

    thread = threading.Thread(target=other)
    with rare_collections():
        thread.start()
        assert inside.wait(10)
    assert oldest() == RARE, "the other thread is within"
    leave.set()
    thread.join()
    assert oldest() == USUAL


def test_rare_collections_in_many_threads_restores_thresholds() -> None:
    def often() -> None:
        for _ in range(2_000):
            with rare_collections():
                pass

    threads = [threading.Thread(target=often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert oldest() == USUAL


def test_a_finalizer_may_transform_within_a_collection() -> None:
    seen = []

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            with rare_collections():
                seen.append(oldest())

    with rare_collections():
        Cycle()
        gc.collect()
        assert oldest() == RARE
    assert seen == [RARE]
    assert oldest() == USUAL


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="the free-threaded build has no young generation"
)
def test_rare_collections_collects_young_cycles_while_tracing() -> None:
    dropped = []

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            dropped.append(None)

    with rare_collections():
        for _ in range(2_000):
            Cycle()
        assert dropped
