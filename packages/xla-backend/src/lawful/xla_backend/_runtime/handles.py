"""The types of jaxlib's objects, which are opaque outside of the bindings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, Protocol


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


Target = Device | tuple[Device, ...]
"""Where a program runs: on a device, or, in partitions, on several, in their order."""


class Buffer(Protocol):
    """The memory of an array on a device. Without jax it has no shape and no dtype."""

    def is_deleted(self) -> bool: ...
    def is_ready(self) -> bool: ...
    def block_until_ready(self) -> object: ...


class MemoryAnalysis(NamedTuple):
    """The memory of a compiled program, in bytes, by JAX's names."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int
    generated_code_size_in_bytes: int


Options = Mapping[str, str | bool | int | float]
"""XLA's own flags, as ``{"xla_backend_optimization_level": 0}``."""
