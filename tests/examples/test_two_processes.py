"""Two processes train together as one does alone."""

from collections.abc import Callable

import pytest


def test_two_processes_have_the_losses_of_one(run: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LAWFUL_PROCESS_ID", "LAWFUL_CPU_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    assert run("--steps", 5) == 0
