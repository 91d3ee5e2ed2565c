"""Programs that do not end are stopped, wherever they loop."""

import gc
import sys
import time
import weakref
from collections.abc import Callable
from itertools import count

import pytest

from ._examination import EndlessError, ending, refuse_wrong_arguments


def spin(seconds: float) -> None:
    """Uses the processor for some seconds."""
    end = time.process_time() + seconds
    for _ in count():
        if time.process_time() > end:
            return


def test_examination_endless_program_is_stopped() -> None:
    with pytest.raises(EndlessError), ending(0.05):
        spin(2.0)
    spin(0.1)  # and nothing after it


def collector_spins() -> None:
    """Loops in a callback of the garbage collector."""

    def callback(phase: str, info: dict[str, int]) -> None:
        spin(0.05)

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)


def weak_reference_spins() -> None:
    """Loops in a callback of a weak reference."""
    held = {1}
    reference = weakref.ref(held, lambda _: spin(0.05))
    del held
    assert reference() is None


def end_spins() -> None:
    """Loops in the finalizer of an object."""

    class Held:
        def __del__(self) -> None:
            spin(0.05)

    Held()


@pytest.mark.parametrize("spins", [collector_spins, weak_reference_spins, end_spins])
def test_examination_stopped_after_what_loses_exceptions(spins: Callable[[], None]) -> None:
    """An exception that Python drops is raised again (pytest would report it as unraisable)."""

    def program() -> None:
        spins()
        reached.append("after")
        spin(2.0)
        reached.append("end")

    reached: list[str] = []
    with pytest.raises(EndlessError), ending(0.02):
        program()
    assert reached == ["after"]


def test_examination_what_others_lose_is_told_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_type))

    class Held:
        def __del__(self) -> None:
            raise ValueError

    with ending():
        Held()
    assert told == [ValueError]
    Held()
    assert told == [ValueError, ValueError]


def test_examination_refuses_a_fault_of_other_arguments() -> None:
    """A rule that got an argument more since its fault was written; every law would find that fault."""

    def wrong(x: object) -> object:
        return x

    with pytest.raises(TypeError) as caught:
        wrong(1, 2)  # type: ignore[call-arg]
    caught.value.__context__ = ValueError("a law")
    law_error = ValueError("the law fails")
    law_error.__cause__ = caught.value
    with pytest.raises(AssertionError, match="does not take the arguments"):
        refuse_wrong_arguments(law_error)
    refuse_wrong_arguments(ValueError("the law fails"))
