"""An Array on several devices is what an Array on one device is, and knows its parts."""

import copy
import pickle
import sys

import numpy as np
import pytest

from lawful.core import float0
from lawful.xla_backend import (
    Array,
    DeletedArrayError,
    SingleDeviceSharding,
    block_until_ready,
    device_get,
    device_put,
    devices,
)

X = np.arange(64.0).reshape(8, 8)


def check_shards(array, values) -> None:
    """Checks values, parts and places against the sharding's own index map."""
    assert array.is_fully_addressable
    indices = array.sharding.devices_indices_map(values.shape)
    assert [shard.device for shard in array.addressable_shards] == list(array.sharding.device_order)
    for shard in array.addressable_shards:
        assert type(shard.data) is Array
        assert shard.data.device is shard.device
        assert shard.index == indices[shard.device]
        np.testing.assert_array_equal(shard.data, values[shard.index])
    first = {str(shard.index) for shard in array.addressable_shards if shard.replica_id == 0}
    assert len(first) == len({str(index) for index in indices.values()})
    np.testing.assert_array_equal(array, values)


def test_jax_is_not_imported_for_shards(grid) -> None:
    x = device_put(X, grid("a", "b"))
    assert len(x.addressable_shards) == 8
    assert not any(name.partition(".")[0] == "jax" for name in sys.modules)


def test_device_put_sharding(grid, spec) -> None:
    sharding = grid(*spec)
    x = device_put(X, sharding)
    assert x.sharding is sharding
    assert x.device is sharding
    assert x.devices() == {*devices()}
    assert x.is_fully_replicated is (spec == ())
    check_shards(x, X)


def test_device_put_resharding(grid, spec, other_spec) -> None:
    x = device_put(device_put(X, grid(*spec)), grid(*other_spec))
    assert x.sharding == grid(*other_spec)
    check_shards(x, X)


def test_device_put_resharding_by_a_program(grid, spec, other_spec) -> None:
    """It is used on accelerators, and where several processes have parts."""
    from lawful.xla_backend._arrays.array import array_of
    from lawful.xla_backend._programs.resharding import reshard

    x = device_put(X, grid(*spec))
    check_shards(array_of(reshard(x._buffer, x.aval, x.sharding, grid(*other_spec)), x.aval, grid(*other_spec)), X)


def test_device_put_other_devices(grid) -> None:
    there = devices()[::-1]
    for source, target in [
        (grid("a"), grid("a", on=there)),
        (grid("a", "b"), grid("q", axes={"q": 2}, on=there[:2])),
        (grid("q", axes={"q": 2}), grid("a", "b", on=there)),
        (devices()[3], grid("a")),
        (grid("a"), devices()[3]),
        (grid("b"), SingleDeviceSharding(devices()[5])),
        (grid(axes={"q": 1}, on=devices()[2:3]), grid("a")),
    ]:
        x = device_put(device_put(X, source), target)
        check_shards(x, X)
        assert x.sharding == (SingleDeviceSharding(target) if target in devices() else target)


def test_device_put_source_may_change(grid, spec) -> None:
    for size in (8, 512):  # the memory of large parts is used in place
        values = np.ones((size, size))
        x = device_put(values, grid(*spec))
        values[:] = 2.0
        assert np.all(np.asarray(x) == 1.0)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "complex128", ">f4", "bfloat16", "float8_e4m3fn"]
)
def test_device_put_dtypes(grid, dtype) -> None:
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = np.arange(64).reshape(8, 8).astype(dtype)
    for spec in [("a", "b"), ("b",), ()]:
        for given in (values, np.asfortranarray(values), np.broadcast_to(values[:1], (8, 8))):
            x = device_put(given, grid(*spec))
            assert x.dtype == dtype.newbyteorder("=")
            check_shards(x, np.asarray(given))


def test_device_put_scalars_and_empty(grid) -> None:
    x = device_put(1.5, grid())
    assert x.weak_type
    assert x.item() == 1.5
    check_shards(device_put(np.zeros((8, 0)), grid("a", "b")), np.zeros((8, 0)))
    assert device_put(np.zeros(3, float0), grid()).dtype == float0


def test_device_put_trees(grid) -> None:
    params = {"w": X, "b": [np.ones(8), 2.0]}
    same = device_put(params, grid())
    assert {leaf.sharding for leaf in (same["w"], *same["b"])} == {grid()}
    each = device_put(params, {"w": grid("a", "b"), "b": [grid("a"), None]})
    assert each["w"].sharding == grid("a", "b")
    assert each["b"][0].sharding == grid("a")
    assert each["b"][1].device is devices()[0]
    prefix = device_put(params, {"w": devices()[2], "b": grid()})
    assert prefix["w"].device is devices()[2]
    assert prefix["b"][1].sharding == grid()
    assert device_get(each)["w"].tolist() == X.tolist()
    assert block_until_ready(each) is each


def test_device_put_bad_places(grid) -> None:
    with pytest.raises(ValueError, match=r"x\['w'\], of type f64\[6\]: .*dimension 0 .* multiple of 4 \(a\), got 6"):
        device_put({"w": np.ones(6)}, {"w": grid("a")})
    with pytest.raises(TypeError, match="expected a device or a sharding, got 3"):
        device_put(X, 3)

    class Wrong(type(grid())):
        def shard_shape(self, shape):
            return tuple(shape)

    class Lying(type(grid())):
        def devices_indices_map(self, shape):
            return {device: (slice(0, 4), slice(None)) for device in self.device_order}

        addressable_devices_indices_map = devices_indices_map

    for liar in (Wrong, Lying):
        with pytest.raises(ValueError, match=r"part.*correct its"):
            device_put(X, liar(devices(), {"c": 4, "d": 2}, ("c",)))


def test_array_methods(grid) -> None:
    x = device_put(X, grid("a", "b"))
    assert (x.shape, x.ndim, x.size, x.nbytes, x.itemsize, len(x)) == ((8, 8), 2, 64, 512, 8, 8)
    assert np.array_equal(x[1:3, 2], X[1:3, 2])
    assert np.array_equal(x.T @ x + 1.0, X.T @ X + 1.0)
    assert np.array_equal(np.sin(x), np.sin(X))
    assert repr(x) == repr(device_put(X))
    assert np.array_equal(x.at[0].set(0.0), np.r_[np.zeros((1, 8)), X[1:]])
    assert x.tolist() == X.tolist()
    assert [row.tolist() for row in x] == X.tolist()
    assert x.is_ready() in (True, False)
    assert x.block_until_ready() is x
    assert x.copy().sharding == copy.deepcopy(x).sharding == x.sharding
    assert np.array_equal(x.copy(), X)
    restored = pickle.loads(pickle.dumps(x))
    assert np.array_equal(restored, X)
    assert restored.device is devices()[0]


def test_array_values_are_gathered_once(grid) -> None:
    x = device_put(X, grid("a", "b"))
    assert np.shares_memory(np.asarray(x), np.asarray(x))
    assert not np.asarray(x).flags.writeable
    with pytest.raises(ValueError, match="copy=False"):
        np.asarray(x, copy=False)


def test_array_to_device(grid) -> None:
    x = device_put(X, grid("a"))
    assert x.to_device(None) is x
    assert x.to_device(grid("a")) is x
    assert type(x.to_device("cpu")) is np.ndarray
    assert x.to_device(devices()[4]).device is devices()[4]
    check_shards(x.to_device(grid("b")), X)
    with pytest.raises(ValueError, match="to_device: expected a device, got 'gpu:7'"):
        x.to_device("gpu:7")


def test_array_dlpack(grid) -> None:
    x = device_put(X, grid("a"))
    with pytest.raises(BufferError, match="addressable_shards"):
        x.__dlpack__()
    assert np.array_equal(np.from_dlpack(x.addressable_data(1)), X[:2])


def test_array_deleted(grid) -> None:
    x = device_put(X, grid("a"))
    shards = x.addressable_shards
    x.delete()
    assert x.is_deleted()
    assert "deleted" in repr(x)
    for use in (lambda: x + 1, lambda: x.addressable_shards, lambda: x.copy(), lambda: device_put(x, grid("b"))):
        with pytest.raises(DeletedArrayError):
            use()
    assert np.array_equal(shards[0].data, X[:2])


def test_array_on_one_device_has_a_sharding() -> None:
    x = device_put(X, devices()[1])
    assert x.sharding == SingleDeviceSharding(devices()[1])
    assert x.is_fully_replicated
    assert x.is_fully_addressable
    [shard] = x.addressable_shards
    assert shard.data is x
    assert shard.index == (slice(None), slice(None))
    assert (x.committed, device_put(X).committed) == (True, False)


def test_array_of_other_processes_is_not_converted(grid) -> None:
    class Elsewhere(type(grid())):
        is_fully_addressable = False

    x = device_put(X, grid("a"))
    x._device = Elsewhere(devices(), {"a": 4, "b": 2}, ("a",))
    for use in (lambda: np.asarray(x), lambda: x.tolist(), lambda: x + 1.0, lambda: device_get(x)):
        with pytest.raises(ValueError, match="other processes have parts"):
            use()
    assert repr(x) == str(x) == "Array(shape=(8, 8), dtype=float64)"
    y = device_put(X, grid())
    y._device = Elsewhere(devices(), {"a": 4, "b": 2}, ())
    assert np.array_equal(y, X)
