"""Moving values between Python and devices: ``device_put``, ``device_get``, ``block_until_ready``, ``devices``.

>>> x = device_put({"w": np.ones(2), "b": 1.0})
>>> x["w"].device == devices()[0], x["b"].weak_type
(True, True)
>>> device_get(x)
{'b': array(1.), 'w': array([1., 1.])}
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, ShapedArray, float0, get_aval, to_numpy
from lawful.xla_backend import _array, _jaxlib
from lawful.xla_backend._array import Array, array_of
from lawful.xla_backend._jaxlib import Device


def devices(backend: str | None = None) -> list[Device]:
    """Returns the devices of a platform, by default of the default one.

    The CPU counts as one device; the environment variable ``LAWFUL_NUM_CPU_DEVICES``, set before the first use,
    makes it several.

    Raises:
      ArgumentValueError: there is no such platform.

    Source: ``jax.devices``.
    """
    return list(_jaxlib.devices(backend))


def default_backend() -> str:
    """Returns the name of the platform that programs run on by default.

    >>> default_backend()
    'cpu'
    """
    return _jaxlib.platforms()[0]


def _put_leaf(x: Any, device: Device | None) -> Any:
    if type(x) is Array:
        x._live_buffer()
        return x if device is None else x.to_device(device)
    aval = get_aval(x)
    if aval.dtype == float0:
        return x
    return _array.put(to_numpy(x), aval, _jaxlib.devices()[0] if device is None else device)


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
    if device is not None and not _jaxlib.is_device(device):
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


def from_dlpack(x: Any, device: Device | None = None) -> Array:
    """Returns an Array with a copy of another library's tensor, on the CPU, that has the dlpack protocol.

    Args:
      x: the tensor, with ``__dlpack__`` and ``__dlpack_device__``.
      device: where to put it; by default on the default device.
    """
    target = _jaxlib.devices()[0] if device is None else device
    try:
        values = np.from_dlpack(x)
    except BufferError:
        # NumPy has no bfloat16 and no float8; for all else this costs more.
        buffer = _jaxlib.import_dlpack(x.__dlpack__(), target)
        values = _jaxlib.view(buffer)
        return array_of(buffer, ShapedArray(values.shape, values.dtype), target)
    return _array.put(values, get_aval(values), target)
