"""Where arrays are asked to be: NumPy's device by its name, and devices of a type that a backend registers."""

from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentValueError, check_device, cpu_device_count, placed, register_device_type


class Shelf:
    """A device that a test made."""


class Stored:
    """An array on a shelf."""

    def __init__(self, values: Any, shelf: Shelf) -> None:
        self.values, self.shelf = values, shelf

    def to_device(self, device: Any) -> Any:
        return self.values if device == "cpu" else Stored(self.values, device)


register_device_type(Shelf, put=lambda x, device: Stored(np.asarray(x), device))


def test_device_nothing_is_moved_unless_asked_for() -> None:
    x = np.ones(2)
    assert placed("test", x, None) is x
    assert placed("test", x, "cpu") is x
    stored = Stored(x, Shelf())
    assert placed("test", stored, None) is stored


@pytest.mark.parametrize("x", [np.ones(2), np.float32(3.0), 4])
def test_to_a_device_and_back(x: Any) -> None:
    shelf, other = Shelf(), Shelf()
    there = placed("test", x, shelf)
    assert there.shelf is shelf
    assert placed("test", there, other).shelf is other
    np.testing.assert_array_equal(placed("test", there, "cpu"), x)


@pytest.mark.parametrize("device", ["gpu", 0, Shelf, object()])
def test_what_is_no_device(device: Any) -> None:
    for use in (check_device, lambda name, device: placed(name, np.ones(2), device)):
        with pytest.raises(ArgumentValueError, match=r"zeros: expected a device, got .*; leave it out"):
            use("zeros", device)


@pytest.mark.parametrize(
    ("ours", "flags", "count"),
    [
        (None, None, 1),
        ("3", None, 3),
        (None, "--xla_force_host_platform_device_count=4", 4),
        (None, "--xla_dump_to=x  --xla_force_host_platform_device_count=4 --xla_cpu_enable_fast_math=true", 4),
        (None, "--xla_force_host_platform_device_count=4 --xla_force_host_platform_device_count=5", 5),
        (None, "--not--xla_force_host_platform_device_count=4", 1),
        ("2", "--xla_force_host_platform_device_count=4", 2),
    ],
)
def test_cpu_device_count(monkeypatch: pytest.MonkeyPatch, ours: str | None, flags: str | None, count: int) -> None:
    for name, value in (("LAWFUL_CPU_DEVICES", ours), ("XLA_FLAGS", flags)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    assert cpu_device_count() == count


@pytest.mark.parametrize("number", ["0", "-1", "four", ""])
def test_cpu_device_count_wrong_xla_flag(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    monkeypatch.delenv("LAWFUL_CPU_DEVICES", raising=False)
    monkeypatch.setenv("XLA_FLAGS", f"--xla_force_host_platform_device_count={number}")
    with pytest.raises(ArgumentValueError, match=r"XLA_FLAGS=--xla_force_host.*: expected a positive integer"):
        cpu_device_count()
