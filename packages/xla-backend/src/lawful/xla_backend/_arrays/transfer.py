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

from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError, float0, get_aval, to_numpy
from lawful.xla_backend._arrays import array
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.handles import Device


def _put_leaf(x: Any, device: Device | None) -> Any:
    if type(x) is Array:
        x._live_buffer()
        return x if device is None else x.to_device(device)
    aval = get_aval(x)
    if aval.dtype == float0:
        return x
    return array.put(to_numpy(x), aval, clients.devices()[0] if device is None else device)


def device_put(x: Any, device: Device | None = None) -> Any:
    """Returns ``x`` with every array and number in it on a device, as an :class:`Array`.

    NumPy arrays are copied, so that changing them later has no effect. Python scalars become weak Arrays, of
    the dtype that NumPy gives them. An Array that is on the device already stays as it is.

    Args:
      x: a pytree of arrays and numbers.
      device: one of :func:`devices`; None for the default device, and for leaving Arrays where they are.

    Raises:
      NonArrayError: a leaf is neither an array nor a number.

    Source: ``jax.device_put``.

    >>> device_put(3.0)
    Array(3., dtype=float64, weak_type=True)
    """
    if device is not None and not bindings.is_device(device):
        raise ArgumentTypeError(
            f"device_put: expected a device, got {device!r}; take one of lawful.xla_backend.devices()"
        )
    return tree.map(lambda leaf: _put_leaf(leaf, device), x)


def device_get(x: Any) -> Any:
    """Returns ``x`` with every Array in it as a NumPy array, on the CPU without a copy and read-only.

    Args:
      x: a pytree; leaves other than Arrays stay as they are.

    Source: ``jax.device_get``.
    """
    return tree.map(lambda leaf: leaf._view() if type(leaf) is Array else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Waits until every Array in a pytree is computed, and returns the pytree. Source: ``jax.block_until_ready``."""
    for leaf in tree.leaves(x):
        if type(leaf) is Array:
            leaf.block_until_ready()
    return x
