"""Devices: those of XLA where `lawful.xla_backend` is installed, and otherwise those that NumPy plays."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Final

from lawful.core import record
from lawful.staging import MissingBackendError

#: The backend, where it is installed.
xla_backend: ModuleType | None
try:
    _installed = importlib.import_module("lawful.xla_backend")
except ModuleNotFoundError as error:
    if error.name not in ("lawful.xla_backend", "jaxlib"):
        raise
    xla_backend = None
else:
    xla_backend = _installed


@record
class SingleDeviceSharding:
    """The sharding of an array that is on one device.

    Source: ``jax.sharding.SingleDeviceSharding``.
    """

    device: Any

    @property
    def device_set(self) -> set[Any]:
        """The devices: one."""
        return {self.device}

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has all elements: yes."""
        return True

    @property
    def is_fully_addressable(self) -> bool:
        """Whether the device is one of this process: yes."""
        return True

    def __hash__(self) -> int:
        return hash(str(self.device))


if xla_backend is not None:
    SingleDeviceSharding = xla_backend.SingleDeviceSharding  # type: ignore[misc]

#: The types of arrays on devices of XLA; none where it is not installed.
DEVICE_ARRAYS: Final[tuple[type, ...]] = () if xla_backend is None else (xla_backend.Array,)


def devices(platform: str | None = None) -> Sequence[Any]:
    """Returns the devices of a platform, by default of the default one."""
    if xla_backend is not None:
        found: Sequence[Any] = xla_backend.devices(platform)
        return found
    parallel = importlib.import_module("lawful.parallel")
    if platform not in (None, "cpu"):
        raise MissingBackendError(f"devices: expected 'cpu', got {platform!r}; install lawful-xla-backend for others")
    found = parallel.devices()
    return found


@cache
def default_device() -> Any:
    """Returns the first device of this process."""
    found = devices()
    client = getattr(found[0], "client", None)
    return next(device for device in found if client is None or device.process_index == client.process_index())
