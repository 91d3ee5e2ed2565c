"""Arrays go to and come from other libraries by dlpack."""

import gc

import ml_dtypes
import numpy as np
import pytest

from lawful.xla_backend import device_put, devices, from_dlpack
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.handles import Buffer


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint32", "complex64", "bool", "float16"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3, 4)], ids=str)
def test_dlpack_numpy_reads_an_array(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.ones(shape, dtype)
    a = device_put(x)
    assert a.__dlpack_device__() == (1, 0)
    y = np.from_dlpack(a)
    assert y.dtype == x.dtype
    assert np.array_equal(x, y)
    assert not y.flags.writeable


def test_dlpack_consumer_keeps_the_memory() -> None:
    a = device_put(np.arange(1000.0))
    y = np.from_dlpack(a)
    assert np.shares_memory(y, np.asarray(a))
    a.delete()
    del a
    gc.collect()
    assert np.array_equal(y, np.arange(1000.0))


def test_dlpack_copy_on_request() -> None:
    a = device_put(np.arange(3.0))
    assert not np.shares_memory(np.from_dlpack(a, copy=True), np.asarray(a))


def test_dlpack_another_device_is_refused() -> None:
    with pytest.raises(BufferError, match="expected the device"):
        device_put(np.arange(3.0)).__dlpack__(dl_device=(2, 0))


def test_from_dlpack_copies() -> None:
    x = np.arange(12.0).reshape(3, 4)
    for source in (x, x[:, ::2], x.T):
        a = from_dlpack(source)
        assert np.array_equal(a, source)
    a = from_dlpack(x)
    x[:] = -1
    assert np.array_equal(a, np.arange(12.0).reshape(3, 4))


class Tensor:
    """A tensor of another library, of a dtype that NumPy does not read from dlpack."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: object) -> object:
        return bindings.export_dlpack(self.buffer)


def test_from_dlpack_takes_bfloat16() -> None:
    x = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    a = from_dlpack(Tensor(device_put(x)._buffer))
    assert a.dtype == x.dtype
    assert np.array_equal(a, x)
    assert a.devices() == {devices()[0]}
