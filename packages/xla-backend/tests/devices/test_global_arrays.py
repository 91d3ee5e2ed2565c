"""Arrays made of parts: by a function, from Arrays of single devices, from the data of a process."""

import numpy as np
import pytest

from lawful.core import InvalidArgumentError, UnexpectedTracerError
from lawful.staging import jit
from lawful.xla_backend import (
    SingleDeviceSharding,
    device_put,
    devices,
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)

X = np.arange(64.0).reshape(8, 8)


def test_make_array_from_callback(grid, spec) -> None:
    calls = []

    def part(index):
        calls.append(index)
        return X[index]

    x = make_array_from_callback((8, 8), grid(*spec), part)
    assert np.array_equal(x, X)
    assert x.sharding == grid(*spec)
    assert len(calls) == len({str(index) for index in grid(*spec).devices_indices_map((8, 8)).values()})


def test_make_array_from_callback_errors(grid) -> None:
    with pytest.raises(ValueError, match=r"expected parts of shape \(2, 8\).*got \(8, 8\)"):
        make_array_from_callback((8, 8), grid("a"), lambda index: X)
    with pytest.raises(InvalidArgumentError, match="expected parts of dtype float32, got float64"):
        make_array_from_callback((8, 8), grid("a"), lambda index: X[index], dtype="float32")
    with pytest.raises(ValueError, match="multiple of 4"):
        make_array_from_callback((6, 8), grid("a"), lambda index: X[index])
    with pytest.raises(TypeError, match="expected a sharding, got 3"):
        make_array_from_callback((8, 8), 3, lambda index: X[index])


def test_make_array_from_single_device_arrays(grid, spec) -> None:
    source = device_put(X, grid(*spec))
    parts = [shard.data for shard in source.addressable_shards]
    x = make_array_from_single_device_arrays((8, 8), grid(*spec), parts[::-1])
    assert np.array_equal(x, X)
    for shard, part in zip(x.addressable_shards, parts, strict=True):
        assert np.shares_memory(np.asarray(shard.data), np.asarray(part))


def test_make_array_from_single_device_arrays_errors(grid) -> None:
    parts = [shard.data for shard in device_put(X, grid("a")).addressable_shards]
    make = make_array_from_single_device_arrays
    with pytest.raises(ValueError, match="got 7, none on cpu:7"):
        make((8, 8), grid("a"), parts[:7])
    with pytest.raises(ValueError, match="a second one on cpu:0 as part 8"):
        make((8, 8), grid("a"), [*parts, parts[0]])
    with pytest.raises(ValueError, match="expected a part on each of 2 devices"):
        make((4, 8), grid("q", axes={"q": 2}, on=devices()[:2]), parts[1:3])
    with pytest.raises(ValueError, match=r"expected parts of shape \(4, 8\)"):
        make((16, 8), grid("a"), parts)
    with pytest.raises(InvalidArgumentError, match="expected parts of dtype float64, got float32"):
        make((8, 8), grid("a"), [*parts[:7], device_put(np.ones((2, 8), np.float32), devices()[7])])
    with pytest.raises(InvalidArgumentError, match="expected Arrays, got array"):
        make((8, 8), grid("a"), [np.ones((2, 8))] * 8)
    with pytest.raises(InvalidArgumentError, match="give dtype="):
        make((8, 8), grid("a"), [])


def test_make_array_from_process_local_data(grid, spec) -> None:
    x = make_array_from_process_local_data(grid(*spec), X)
    assert np.array_equal(x, X)
    assert np.array_equal(make_array_from_process_local_data(grid(*spec), X, (8, None)), X)
    with pytest.raises(ValueError, match="expected dimension 0 of the data to be 16"):
        make_array_from_process_local_data(grid(*spec), X, (16, 8))


def test_make_array_single_device() -> None:
    sharding = SingleDeviceSharding(devices()[2])
    x = make_array_from_process_local_data(sharding, X)
    assert x.device is devices()[2]
    assert np.array_equal(make_array_from_callback((8, 8), sharding, lambda index: X[index]), X)


@pytest.mark.parametrize(
    "make",
    [
        lambda sharding, x: make_array_from_callback(x.shape, sharding, lambda index: x[index]),
        lambda sharding, x: make_array_from_single_device_arrays(x.shape, sharding, [x]),
        make_array_from_process_local_data,
    ],
)
def test_make_array_of_a_traced_value_is_an_error(grid, make) -> None:
    with pytest.raises(
        (UnexpectedTracerError, InvalidArgumentError),
        match=r"^.*: make_array_from_\w+: expected values .*, got Tracer\(f64",
    ):
        jit(lambda x: make(grid("a"), x))(X)
