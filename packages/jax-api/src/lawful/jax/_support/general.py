"""Functions of the module ``jax`` itself that lawful has under no name of its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from lawful import tree
from lawful.autodiff import jacrev
from lawful.core import ArgumentValueError, ShapedArray, Tracer, eval_trace, get_aval, set_current, to_numpy
from lawful.core import eval_jaxpr as _eval_jaxpr
from lawful.core import float0 as float0
from lawful.jax._support import devices as _devices
from lawful.jax._support.array import Array, as_jax, on_device
from lawful.jax._support.devices import Device as Device

jacobian = jacrev
xla_backend = _devices.xla_backend


def device_get(x: Any) -> Any:
    """Returns a pytree with its arrays as NumPy arrays."""

    def get(leaf: Any) -> Any:
        return numpy.asarray(leaf) if isinstance(leaf, Array) and not isinstance(leaf, Tracer) else leaf

    return tree.map(get, x)


def device_put(x: Any, device: Any = None, *, src: Any = None, donate: Any = False, may_alias: Any = None) -> Any:
    """Returns a pytree with its leaves as arrays on a device, or on several.

    Args:
      x: the pytree.
      device: a device, a sharding, or a tree of these of which the structure is a prefix of that of ``x``.
      src: has no effect.
      donate: has no effect.
      may_alias: has no effect.

    Raises:
      ArgumentValueError: the device is one of several, and neither the default one nor the first one of the CPU: arrays
        that are not traced are in the memory of the process; or a sharding does not divide the shape of its array.
    """
    device = getattr(device, "device", device)
    if xla_backend is not None and any(
        isinstance(place, xla_backend.Sharding) for place in tree.leaves(device) if device is not None
    ):
        return xla_backend.device_put(tree.map(on_device, x), device)
    if device is not None and device not in (devices()[0], devices("cpu")[0]):
        raise ArgumentValueError(
            f"device_put: expected one of the devices that arrays of lawful.jax are on, {devices('cpu')[0]}, got "
            f"{device}; leave it out, or use device_put and jit of lawful.xla_backend and lawful.staging"
        )

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            return leaf
        if xla_backend is not None and device is not None:
            return xla_backend.device_put(to_numpy(leaf), device)
        return leaf if isinstance(leaf, Array) else as_jax(numpy.array(to_numpy(leaf)))

    return tree.map(put, x)


def block_until_ready(x: Any) -> Any:
    """Waits until the arrays of a pytree are computed, and returns it."""
    for leaf in tree.leaves(x):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return x


def copy_to_host_async(x: Any) -> Any:
    """Returns a pytree: its arrays are in the memory of the process."""
    return x


def devices(backend: str | None = None) -> list[Any]:
    """Returns the devices of a platform, by default of the default one."""
    return list(_devices.devices(backend))


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """Returns the devices of a platform, by default of the default one."""
    return list(_devices.devices(backend))


def default_backend() -> str:
    """Returns the name of the platform that programs run on."""
    return str(_devices.devices()[0].platform)


def device_count(backend: str | None = None) -> int:
    """Returns the number of devices of a platform, by default of the default one."""
    return len(_devices.devices(backend))


local_device_count = device_count


def process_count(backend: str | None = None) -> int:
    """Returns the number of processes: 1."""
    return 1


def process_index(backend: str | None = None) -> int:
    """Returns the number of this process: 0."""
    return 0


def process_indices(backend: str | None = None) -> list[int]:
    """Returns the numbers of the processes: 0."""
    return [0]


host_count, host_id, host_ids = process_count, process_index, process_indices


def effects_barrier() -> None:
    """Returns when callbacks have run, which they have."""


def typeof(x: Any) -> ShapedArray:
    """Returns the type of an array, number or tracer."""
    return get_aval(x)


@contextlib.contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Names a part of a program in JAX's profiles; it has no effect here."""
    yield


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """Returns a function of which JAX's profiles show the name; it has no other effect."""

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fun(*args, **kwargs)

    return call


@contextlib.contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Evaluates operations on known values within a ``with`` block, also where a program is traced."""
    with set_current(eval_trace):
        yield


def eval_context() -> Any:
    """Returns the context manager within which operations are evaluated."""
    return set_current(eval_trace)


def eval_jaxpr(jaxpr: Any, consts: Any, *args: Any, propagate_source_info: bool = True) -> Any:
    """Returns the results of a jaxpr."""
    return _eval_jaxpr(jaxpr, consts, *args)


def print_environment_info(return_string: bool = False) -> str | None:
    """Prints the versions of lawful's parts, or returns them."""
    backend = "none" if xla_backend is None else "installed"
    text = f"lawful.jax; numpy {numpy.__version__}; xla_backend {backend}"
    if return_string:
        return text
    print(text)  # noqa: T201
    return None
