"""What does not end is stopped, wherever it is."""

import gc
import time
from itertools import count

import pytest

from ._examination import EndlessError, ending


def spin(seconds: float) -> None:
    """Uses the processor for some seconds."""
    end = time.process_time() + seconds
    for _ in count():
        if time.process_time() > end:
            return


def test_an_endless_program_is_stopped() -> None:
    with pytest.raises(EndlessError), ending(0.05):
        spin(2.0)
    spin(0.1)  # and nothing after it


def test_it_is_not_stopped_in_a_callback_of_the_collector() -> None:
    """What one raises is lost, and Python complains of it: it is stopped afterwards."""
    called = []

    def callback(phase: str, info: dict[str, int]) -> None:
        spin(0.05)
        called.append(phase)

    def collect_and_spin() -> None:
        gc.collect()
        spin(2.0)

    gc.callbacks.append(callback)
    try:
        with pytest.raises(EndlessError), ending(0.02):
            collect_and_spin()
    finally:
        gc.callbacks.remove(callback)
    assert called[:2] == ["start", "stop"]
