"""Arrays come back from a device as they were: every dtype, shape and layout, also if the source changes later."""

import gc

import ml_dtypes
import numpy as np
import pytest

from lawful.core import ShapedArray, supported_dtypes
from lawful.xla_backend import devices
from lawful.xla_backend._runtime import bindings


def round_trip(x: np.ndarray) -> np.ndarray:
    return bindings.view(bindings.put(x, devices()[0], ShapedArray(x.shape, x.dtype)))


def bits(x: np.ndarray) -> bytes:
    return np.ascontiguousarray(x).tobytes()


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (5,), (2, 3, 4)], ids=str)
def test_buffer_every_dtype_and_shape(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    x = np.resize(np.array([0, 1, 0, 1, 1], dtype), shape).astype(dtype)
    y = round_trip(x)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert bits(y) == bits(x)


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x.T,
        lambda x: np.asfortranarray(x),
        lambda x: np.broadcast_to(x[0, 0], (3, 2)),
        lambda x: x[1:, 1:],
        lambda x: x[1, 1:2].reshape(()),
    ],
    ids=["strided", "reversed", "transposed", "fortran", "broadcast", "sliced", "element"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, ml_dtypes.bfloat16, bool], ids=str)
def test_buffer_every_layout(layout, dtype) -> None:
    x = layout(np.arange(12).reshape(4, 3).astype(dtype))
    assert bits(round_trip(x)) == bits(x)


@pytest.mark.parametrize("dtype", [">f8", ">i4", ">c16", ">u2"])
def test_buffer_big_endian_is_converted(dtype: str) -> None:
    x = np.array([1, 2, 300], dtype)
    y = round_trip(x)
    assert y.dtype.isnative
    assert np.array_equal(x, y)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -0.0, 5e-324])
def test_buffer_special_values_keep_their_bits(special: float) -> None:
    x = np.array([special])
    assert bits(round_trip(x)) == bits(x)


@pytest.mark.parametrize("size", [1, 1000, 4_000_000])
def test_buffer_change_of_the_source_does_not_show(size: int) -> None:
    # Aligned as the runtime likes it, where it would take the memory over instead of copying it.
    raw = np.empty(8 * size + 64, np.uint8)
    offset = -raw.ctypes.data % 64
    for _ in range(5):
        x = raw[offset : offset + 8 * size].view(np.float64)
        x[:] = 1.0
        buffer = bindings.put(x, devices()[0], ShapedArray(x.shape, x.dtype))
        x[size // 2 :] = 2.0
        x[:] = 2.0
        assert np.all(bindings.view(buffer) == 1.0)


def test_buffer_view_is_read_only_and_no_copy() -> None:
    buffer = bindings.put(np.arange(3.0), devices()[0], ShapedArray((3,), "float64"))
    first, second = bindings.view(buffer), bindings.view(buffer)
    assert np.shares_memory(first, second)
    assert not first.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        first.setflags(write=True)


def test_buffer_view_keeps_the_memory() -> None:
    buffer = bindings.put(np.arange(1000.0), devices()[0], ShapedArray((1000,), "float64"))
    view = bindings.view(buffer)
    del buffer
    gc.collect()
    other = [bindings.put(np.zeros(1000), devices()[0], ShapedArray((1000,), "float64")) for _ in range(20)]
    assert np.array_equal(view, np.arange(1000.0))
    assert len(other) == 20


def test_buffer_copy_has_memory_of_its_own() -> None:
    buffer = bindings.put(np.arange(3.0), devices()[0], ShapedArray((3,), "float64"))
    copied = bindings.copy_buffer(buffer, devices()[0])
    assert not np.shares_memory(bindings.view(buffer), bindings.view(copied))
    assert np.array_equal(bindings.view(copied), np.arange(3.0))
