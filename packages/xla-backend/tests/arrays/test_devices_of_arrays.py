"""Arrays move between devices by the method that the Python array API has for it."""

from collections.abc import Callable
from subprocess import CompletedProcess

import numpy as np
import pytest

from lawful.core import placed
from lawful.xla_backend import Array, DeletedArrayError, device_put, devices


def test_array_device_where_it_is() -> None:
    x = device_put(np.ones(2))
    assert x.to_device(devices()[0]) is x
    assert x.to_device(None) is x


def test_array_device_to_numpy_and_back() -> None:
    x = device_put(np.arange(3.0))
    there = x.to_device("cpu")
    assert type(there) is np.ndarray
    back = placed("test", there, x.device)
    assert type(back) is Array
    np.testing.assert_array_equal(back, x)


def test_array_device_nowhere() -> None:
    x = device_put(np.ones(2))
    with pytest.raises(ValueError, match="to_device: expected a device, got 'gpu:7'"):
        x.to_device("gpu:7")
    with pytest.raises(ValueError, match="no stream"):
        x.to_device("cpu", stream=1)
    x.delete()
    with pytest.raises(DeletedArrayError):
        x.to_device("cpu")


SCRIPT = """
import numpy as np
from lawful.staging import jit
from lawful.xla_backend import device_put, devices
first, second = devices()
x = device_put(np.arange(3.0), first)
y = x.to_device(second)
assert (x.device, y.device) == (first, second)
assert np.array_equal(x, y)
assert not np.shares_memory(np.asarray(x), np.asarray(y))
assert device_put(2.0).to_device(second).weak_type

double = jit(lambda x: x * 2.0)
for _ in range(3):
    for there in (x, y, y, x):
        assert double(there).device == there.device
        assert np.array_equal(double(there), 2.0 * np.arange(3.0))
"""


def test_array_device_from_one_to_another(run_python: Callable[..., CompletedProcess[str]]) -> None:
    done = run_python(SCRIPT, LAWFUL_CPU_DEVICES="2")
    assert done.returncode == 0, done.stderr
