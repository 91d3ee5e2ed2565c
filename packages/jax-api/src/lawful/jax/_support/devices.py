"""Devices: those of XLA where `lawful.xla_backend` is installed, and otherwise the processor that NumPy runs on."""

from __future__ import annotations

import importlib
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
class Device:
    """The processor that NumPy runs on, where there is no XLA."""

    id: int = 0
    platform: str = "cpu"
    device_kind: str = "cpu"
    process_index: int = 0

    def __str__(self) -> str:
        return f"{self.platform}:{self.id}"


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


#: The types of arrays on devices of XLA; none where it is not installed.
DEVICE_ARRAYS: Final[tuple[type, ...]] = () if xla_backend is None else (xla_backend.Array,)


@cache
def devices(platform: str | None = None) -> tuple[Any, ...]:
    """Returns the devices of a platform, by default of the default one."""
    if xla_backend is not None:
        return tuple(xla_backend.devices(platform))
    if platform not in (None, "cpu"):
        raise MissingBackendError(f"devices: expected 'cpu', got {platform!r}; install lawful-xla-backend for others")
    return (Device(),)
