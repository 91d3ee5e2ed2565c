"""The cache of transformed jaxprs can be cleared at any time, also while other threads insert."""

import sys
import threading
import weakref
from typing import Any

import pytest

from lawful.core import ClosedJaxpr, Jaxpr, JaxprEqn, Primitive, clear_caches, memoize
from lawful.core._jaxpr.memoization import TransformedJaxprs, transformed_jaxprs


@pytest.fixture
def _threads_switch_often() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@memoize
def derived(closed: ClosedJaxpr) -> object:
    return object()


def new_jaxpr() -> ClosedJaxpr:
    return ClosedJaxpr(Jaxpr((), (), (), ()), ())


def test_memoize_what_is_forgotten_is_derived_anew() -> None:
    closed = new_jaxpr()
    first = derived(closed)
    assert derived(closed) is first
    clear_caches()
    assert derived(closed) is not first


def test_memoize_jaxprs_that_are_gone_take_no_memory() -> None:
    clear_caches()
    kept = [new_jaxpr() for _ in range(2000)]
    for number in range(20_000):
        derived(kept[number % 2000])
        derived(new_jaxpr())
    assert len(transformed_jaxprs._with_memo) < 3 * len(kept)
    first = [derived(closed) for closed in kept]
    clear_caches()
    assert not any(derived(closed) is known for closed, known in zip(kept, first, strict=True))


@pytest.mark.parametrize("at", ["taking out", "clearing"])
def test_memoize_what_a_finalizer_remembers_meanwhile_is_kept(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection of garbage may start anywhere, and run a finalizer: here it does where a reference is looked at."""
    clear_caches()
    meanwhile = [new_jaxpr() for _ in range(100)]

    def finalized() -> None:
        for closed in meanwhile:
            derived(closed)

    kept = [new_jaxpr() for _ in range(10)]
    first = [derived(closed) for closed in kept]
    monkeypatch.setattr(TransformedJaxprs, "_FEWEST", 20)
    transformed_jaxprs._with_memo.insert(3, finalized)  # type: ignore[arg-type]
    if at == "taking out":
        transformed_jaxprs._sweep_at = 10
        derived(new_jaxpr())
        assert {each() for each in transformed_jaxprs._with_memo} >= {*kept, *meanwhile}
    clear_caches()
    assert not any(derived(closed) is known for closed, known in zip(kept, first, strict=True))
    known = [derived(closed) for closed in meanwhile]
    clear_caches()
    assert not any(derived(closed) is before for closed, before in zip(meanwhile, known, strict=True))


@pytest.mark.usefixtures("_threads_switch_often")
def test_memoize_cleared_while_another_thread_inserts() -> None:
    jaxprs = [new_jaxpr() for _ in range(3000)]
    others: list[ClosedJaxpr] = []
    running, done = threading.Event(), threading.Event()

    def work() -> None:
        while not done.is_set():
            others.append(new_jaxpr())
            derived(others[-1])
            running.set()

    thread = threading.Thread(target=work)
    thread.start()
    running.wait()
    try:
        for _ in range(10):
            for closed in jaxprs:
                derived(closed)
            clear_caches()
    finally:
        done.set()
        thread.join()


@memoize
def joined(first: ClosedJaxpr, others: tuple[ClosedJaxpr, ...]) -> object:
    return object()


def test_memoize_of_two_jaxprs_holds_neither() -> None:
    """A shared jaxpr does not keep the other one, which has a function among its parameters."""
    call_p = Primitive("call", multiple_results=True)
    shared = new_jaxpr()
    calling = ClosedJaxpr(Jaxpr((), (), (JaxprEqn(call_p, (), (), {"function": lambda: None}),), ()))
    for first, others in ((shared, (calling,)), (calling, (shared,))):
        assert joined(first, others) is joined(first, others)
    assert joined(shared, (calling,)) is not joined(calling, (shared,))
    gone = weakref.ref(calling)
    del calling, first, others
    assert gone() is None


def test_memoize_errors_do_not_show_that_nothing_was_kept() -> None:
    @memoize
    def fails(closed: ClosedJaxpr) -> None:
        raise ValueError("of the function")

    with pytest.raises(ValueError, match="of the function") as raised:
        fails(new_jaxpr())
    assert raised.value.__context__ is None
