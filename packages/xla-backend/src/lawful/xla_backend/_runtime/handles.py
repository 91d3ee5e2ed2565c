"""The types of jaxlib's objects, which are opaque outside of the bindings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol


class Device(Hashable, Protocol):
    """A device that arrays live on, such as the CPU."""

    @property
    def id(self) -> int: ...
    @property
    def platform(self) -> str: ...
    @property
    def device_kind(self) -> str: ...
    @property
    def process_index(self) -> int: ...
    @property
    def client(self) -> Any: ...


class Buffer(Protocol):
    """The memory of an array on a device. Without jax it has no shape and no dtype."""

    def is_deleted(self) -> bool: ...
    def is_ready(self) -> bool: ...
    def block_until_ready(self) -> object: ...


Options = Mapping[str, str | bool | int | float]
"""XLA's own flags, as ``{"xla_backend_optimization_level": 0}``."""
