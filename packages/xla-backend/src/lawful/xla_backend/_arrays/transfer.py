"""Moving values between Python and devices: ``device_put``, ``device_get``, ``block_until_ready``.

>>> import numpy as np
>>> from lawful.xla_backend import devices
>>> x = device_put({"w": np.ones(2), "b": 1.0})
>>> x["w"].device == devices()[0], x["b"].weak_type
(True, True)
>>> device_get(x)
{'b': array(1.), 'w': array([1., 1.])}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, float0, get_aval, shorten, to_numpy
from lawful.xla_backend._arrays import array
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._arrays.placed import Place
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._runtime import bindings, clients


def _put_leaf(x: Any, place: Place | None) -> Any:
    if type(x) is Array:
        x._live_buffer()
        return x if place is None else array.moved(x, place)
    if isinstance(x, Tracer):
        constrain = getattr(place, "constrain", None)  # a sharding of `lawful.parallel` has it
        return x if constrain is None else constrain(x)
    aval = get_aval(x)
    if aval.dtype == float0:
        return x
    return array.put(to_numpy(x), aval, clients.default_device() if place is None else place)


def device_put(x: Any, device: Any = None) -> Any:
    """Returns ``x`` with every array and number in it on a device, or on several, as an :class:`Array`.

    NumPy arrays are copied, so that changing them later has no effect. Python scalars become weak Arrays, of
    the dtype that NumPy gives them. An Array that is there already stays as it is.

    Args:
      x: a pytree of arrays and numbers. A traced value stays where it is; with a sharding it is constrained to that.
      device: one of :func:`devices`, a sharding, or a tree of these of which the structure is a prefix of that of
        ``x``; None for the default device, and for leaving Arrays where they are.

    Raises:
      ArgumentTypeError: a place is neither a device nor a sharding.
      ArgumentValueError: a sharding does not divide the shape of its array.
      NonArrayError: a leaf is neither an array nor a number.

    Law: the values of ``device_put(x, sharding)`` are those of ``x``. Source: ``jax.device_put``.

    >>> device_put(3.0)
    Array(3., dtype=float64, weak_type=True)
    """
    if device is None or isinstance(device, bindings.DeviceType):
        only: Any = device
        return tree.map(lambda leaf: _put_leaf(leaf, only), x)
    leaves, structure = tree.flatten(x)
    if isinstance(device, Sharding):
        places: list[Any] = [device] * len(leaves)
    else:
        places = tree.broadcast_prefix(device, x, is_leaf=lambda place: place is None)
    for place in places:
        if not (place is None or isinstance(place, bindings.DeviceType | Sharding)):
            raise ArgumentTypeError(
                f"device_put: expected a device or a sharding, got {shorten(place)}; take one of "
                "lawful.xla_backend.devices(), or make a NamedSharding"
            )
    _check_shapes(x, leaves, places)
    return tree.unflatten(structure, [_put_leaf(leaf, place) for leaf, place in zip(leaves, places, strict=True)])


def _check_shapes(x: Any, leaves: Sequence[Any], places: Sequence[Any]) -> None:
    """Raises ArgumentValueError, with the key path of the leaf, where a sharding does not divide a shape."""
    for position, (leaf, place) in enumerate(zip(leaves, places, strict=True)):
        if isinstance(place, Sharding):
            aval = get_aval(leaf)
            try:
                place.shard_shape(aval.shape)
            except ArgumentValueError as error:
                path = tree.keystr(tree.leaves_with_path(x)[position][0])
                raise ArgumentValueError(f"device_put: x{path}, of type {aval}: {error.message}") from error


def device_get(x: Any) -> Any:
    """Returns ``x`` with every Array in it as a NumPy array, on the CPU without a copy and read-only.

    Args:
      x: a pytree; leaves other than Arrays stay as they are.

    Raises:
      ArgumentValueError: other processes have parts of an array.

    Source: ``jax.device_get``.

    >>> device_get({"w": device_put(2.0), "name": "layer"})
    {'name': 'layer', 'w': array(2.)}
    """
    return tree.map(lambda leaf: leaf._view() if type(leaf) is Array else leaf, x)


def block_until_ready[T](x: T) -> T:
    """Waits until every Array in a pytree is computed, and returns the pytree. Source: ``jax.block_until_ready``.

    >>> block_until_ready([device_put(1.0)])[0].is_ready()
    True
    """
    for leaf in tree.leaves(x):
        if type(leaf) is Array:
            leaf.block_until_ready()
    return x
