"""Where arrays are asked to be: NumPy's device by its name, and devices of a type that a backend registers."""

from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentValueError, check_device, placed, register_device_type


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
