"""``device_put`` and ``device_get`` move pytrees, and keep types and values."""

from collections import namedtuple

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError, NonArrayError, float0
from lawful.xla_backend import Array, block_until_ready, default_backend, device_get, device_put, devices

Point = namedtuple("Point", "x y")


def test_device_put_trees_keep_their_structure() -> None:
    tree = {"a": [np.arange(3), (1.0, None)], "p": Point(np.float32(2), np.zeros((2, 0)))}
    put = device_put(tree)
    assert type(put["p"]) is Point
    assert put["a"][1][1] is None
    assert type(put["a"][0]) is Array
    assert put["a"][1][0].weak_type
    assert not put["p"].x.weak_type
    got = device_get(put)
    assert type(got["a"][0]) is np.ndarray
    assert got["p"].x.dtype == np.float32
    assert np.array_equal(got["a"][0], np.arange(3))


@pytest.mark.parametrize("x", [True, 3, 2.5, 1j], ids=repr)
def test_device_put_python_scalars_are_weak_and_64_bits(x) -> None:
    a = device_put(x)
    assert a.weak_type
    assert a.dtype == np.asarray(x).dtype
    assert a.item() == x


def test_an_array_on_the_device_stays_as_it_is() -> None:
    a = device_put(np.arange(3))
    assert device_put(a) is a
    assert device_put(a, devices()[0]) is a


def test_device_get_gives_read_only_views_and_leaves_the_rest() -> None:
    a = device_put(np.arange(3))
    x = device_get(a)
    assert not x.flags.writeable
    assert np.shares_memory(x, np.asarray(a))
    other = np.arange(3)
    assert device_get([other, 1.0])[0] is other


def test_device_put_float0_stays_on_the_host() -> None:
    x = np.zeros(3, float0)
    assert device_put(x) is x


def test_block_until_ready_returns_its_argument() -> None:
    tree = {"a": device_put(np.arange(3)), "b": 1.0}
    assert block_until_ready(tree) is tree


def test_devices() -> None:
    assert default_backend() == "cpu"
    assert [device.platform for device in devices()] == ["cpu"] * len(devices())
    assert devices("cpu") == devices()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: device_put("a"), NonArrayError, "got 'a'"),
        (lambda: device_put(np.array(["a"])), ArgumentTypeError, "dtype"),
        (lambda: device_put(1.0, "cpu"), ArgumentTypeError, "expected a device"),
        (lambda: devices("gpu"), ArgumentValueError, "'cpu'"),
        (lambda: device_put(2**80), OverflowError, "int64"),
    ],
)
def test_device_put_mistakes_are_explained(call, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
