"""Names of JAX for arrays on many devices: devices as an array, arrays made of parts, and pictures of layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import parallel, tree
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer
from lawful.jax._support.array import Array, as_jax, on_device
from lawful.jax._support.devices import SingleDeviceSharding, xla_backend
from lawful.jax._support.sharding import Device, in_context, make_mesh


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> Any:
    """Returns devices as an array of a shape, in their order; the two switches are about TPUs, and have no effect.

    >>> create_device_mesh((1, 1)).shape
    (1, 1)
    """
    return make_mesh(mesh_shape, tuple(range(len(mesh_shape))), devices=devices).devices


def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: Callable[[Any], Any], dtype: Any = None
) -> Any:
    """Returns an array whose parts a function of their indices gives; see `lawful.xla_backend`."""
    backend = _backend("make_array_from_callback")
    return as_jax(backend.make_array_from_callback(shape, sharding, data_callback, dtype))


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None
) -> Any:
    """Returns the array whose parts some arrays are, each on one device; see `lawful.xla_backend`."""
    backend = _backend("make_array_from_single_device_arrays")
    parts = [backend.device_put(on_device(x)) if type(x) is Array else x for x in arrays]
    return as_jax(backend.make_array_from_single_device_arrays(shape, sharding, parts, dtype=dtype))


def make_array_from_process_local_data(sharding: Any, local_data: Any, global_shape: Any = None) -> Any:
    """Returns an array of which each process gives what its devices have; see `lawful.xla_backend`."""
    backend = _backend("make_array_from_process_local_data")
    if isinstance(sharding, Device):
        sharding = SingleDeviceSharding(sharding)
    sharding = in_context(sharding)
    shapes = tree.broadcast_prefix(global_shape, local_data, is_leaf=_is_shape)
    leaves, structure = tree.flatten(local_data)
    return tree.unflatten(
        structure,
        [
            as_jax(backend.make_array_from_process_local_data(sharding, x, (s,) if type(s) is int else s))
            for x, s in zip(leaves, shapes, strict=True)
        ],
    )


def visualize_array_sharding(arr: Any, **options: Any) -> None:
    """Prints which device has which part of an array; see `lawful.parallel`."""
    if isinstance(arr, Tracer):
        raise ArgumentTypeError(
            "visualize_array_sharding: expected an array, got a tracer, whose sharding the compiler chooses; call it "
            "on results"
        )
    visualize_sharding(arr.shape, arr.sharding, **options)


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Prints which device has which part of an array of a shape; widths and colors are chosen by lawful.parallel."""
    parallel.visualize_sharding(shape, sharding, use_color=use_color)


def _is_shape(x: Any) -> bool:
    return x is None or (isinstance(x, tuple | list) and all(size is None or isinstance(size, int) for size in x))


def _backend(name: str) -> Any:
    if xla_backend is None:
        raise ArgumentValueError(f"{name}: expected XLA, which knows the parts of arrays; install lawful-xla-backend")
    return xla_backend
