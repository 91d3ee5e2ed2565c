"""Devices of arrays. NumPy's is ``"cpu"``; a backend registers the type of its own.

>>> check_device("zeros", "cpu")
>>> move_to_device(np.zeros(2), "cpu")
array([0., 0.])
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful.core._errors import ArgumentValueError, shorten
from lawful.core._types.arrays import to_numpy

#: NumPy's name of the device of its arrays.
NUMPY_DEVICE: Final = "cpu"

# Functions that move an array to a device, by the device's type.
_put_on: dict[type, Callable[[Any, Any], Any]] = {}


def register_device_type(cls: type, *, put: Callable[[Any, Any], Any]) -> None:
    """Makes instances of ``cls`` devices, which ``device=`` of array functions takes.

    Args:
      cls: the type.
      put: ``put(x, device)`` gives an array, of the type of a backend, with the values of ``x`` on the device.

    >>> class Disk: ...
    >>> register_device_type(Disk, put=lambda x, device: ("on disk", x.tolist()))
    >>> move_to_device(np.zeros(2), Disk())
    ('on disk', [0.0, 0.0])
    """
    _put_on[cls] = put


def check_device(name: str, device: Any) -> None:
    """Raises ArgumentValueError for what is no device: None, ``"cpu"``, or an instance of a registered type.

    >>> check_device("zeros", "gpu")
    Traceback (most recent call last):
    lawful.tree.base.errors.ArgumentValueError: ...: zeros: expected a device, got 'gpu'; ...
    """
    if device is not None and type(device) not in _put_on and not (isinstance(device, str) and device == NUMPY_DEVICE):
        raise ArgumentValueError(
            f"{name}: expected a device, got {shorten(device)}; leave it out, or give 'cpu' or the device of an array"
        )


#: XLA's flag for the number of devices, as a program for JAX sets it. The last one holds.
_DEVICES_FLAG: Final = re.compile(r"(?:^|\s)--xla_force_host_platform_device_count=(\S*)")


def cpu_device_count() -> int:
    """Returns how many devices the CPU counts as, by the environment: 1 if nothing else is said.

    ``LAWFUL_CPU_DEVICES`` goes before ``--xla_force_host_platform_device_count`` in ``XLA_FLAGS``.

    Raises:
      ArgumentValueError: it is no positive integer.

    >>> cpu_device_count() >= 1
    True
    """
    name, text = "LAWFUL_CPU_DEVICES", os.environ.get("LAWFUL_CPU_DEVICES")
    if text is None:
        flags = _DEVICES_FLAG.findall(os.environ.get("XLA_FLAGS", ""))
        name, text = "XLA_FLAGS=--xla_force_host_platform_device_count", flags[-1] if flags else "1"
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentValueError(f"{name}: expected a positive integer, got {text!r}; correct or unset it")
    return int(text)


def move_to_device(x: Any, device: Any) -> Any:
    """Returns an array with a known value on a device: a NumPy array for ``"cpu"``, else an array of the backend."""
    if hasattr(x, "to_device") and not isinstance(x, np.ndarray | np.generic):
        return x.to_device(device)
    put = _put_on.get(type(device))
    return np.asarray(to_numpy(x)) if put is None else put(x, device)
