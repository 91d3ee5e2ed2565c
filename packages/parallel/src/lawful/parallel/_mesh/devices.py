"""The devices that meshes are made of: XLA's, or without jaxlib, ones that NumPy plays."""

from __future__ import annotations

import operator
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, Protocol, runtime_checkable

from lawful.core import ArgumentTypeError, ArgumentValueError, cpu_device_count


@runtime_checkable
class Device(Protocol):
    """A device: one that XLA runs programs on, or a `NumpyDevice`.

    >>> isinstance(NumpyDevice(0), Device)
    True
    """

    @property
    def id(self) -> int: ...
    @property
    def platform(self) -> str: ...
    @property
    def process_index(self) -> int: ...
    def __hash__(self) -> int: ...


class NumpyDevice:
    """A device of a mesh where jaxlib is not installed: NumPy computes what all of them would compute, one by one.

    Attributes:
      id: its number.
      platform: ``"numpy"``.
      device_kind: ``"numpy"``.
      process_index: 0.

    >>> device = NumpyDevice(1)
    >>> device.id, device.platform, device.process_index
    (1, 'numpy', 0)
    """

    __slots__ = ("id",)

    platform: Final = "numpy"
    device_kind: Final = "numpy"
    process_index: Final = 0

    def __init__(self, number: int) -> None:
        self.id = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumpyDevice) and self.id == other.id

    def __hash__(self) -> int:
        return hash((NumpyDevice, self.id))

    def __repr__(self) -> str:
        return f"NumpyDevice(id={self.id})"


@cache
def xla() -> ModuleType | None:
    """Returns ``lawful.xla_backend``; None if it, or jaxlib, is not installed."""
    if find_spec("lawful.xla_backend") is None or find_spec("jaxlib") is None:
        return None
    from lawful import xla_backend  # imported late: NumPy alone does as well

    return xla_backend


_numpy_device_count: int | None = None


def set_cpu_device_count(count: int) -> None:
    """Makes the CPU count as several devices; it goes before ``LAWFUL_CPU_DEVICES`` and ``XLA_FLAGS``.

    Call it before the first use: before an array is put on a device, a program compiled, or `devices` called. Without
    jaxlib NumPy plays that many devices, at any time.

    Args:
      count: the number of devices, at least 1.

    Raises:
      ArgumentTypeError: the count is no integer.
      ArgumentValueError: it is less than 1.
      RuntimeStartedError: the CPU is in use already, with another number of devices.

    >>> set_cpu_device_count(device_count())

    Source: JAX's switch ``jax_num_cpu_devices``.
    """
    global _numpy_device_count
    backend = xla()
    if backend is not None:
        backend.set_cpu_device_count(count)
        return
    try:
        number = operator.index(count)
    except TypeError:
        raise ArgumentTypeError(f"set_cpu_device_count: expected an integer, got {count!r}; give 1 or more") from None
    if number < 1:
        raise ArgumentValueError(f"set_cpu_device_count: expected a positive integer, got {count}; give 1 or more")
    _numpy_device_count = number


def numpy_devices(count: int | None = None) -> list[Device]:
    """Returns the devices that NumPy plays, by default as many as `set_cpu_device_count` or the environment say.

    A mesh of these runs on NumPy, also where jaxlib is installed.

    >>> numpy_devices(2)
    [NumpyDevice(id=0), NumpyDevice(id=1)]
    """
    if count is None:
        count = _numpy_device_count
    if count is None:
        count = cpu_device_count()
    return [NumpyDevice(number) for number in range(count)]


def devices(backend: str | None = None) -> list[Device]:
    """Returns all devices of a platform, by default of the default one, those of other processes included.

    Args:
      backend: ``"cpu"``, ``"cuda"`` (also called ``"gpu"``), or ``"numpy"`` for those that NumPy plays.

    Raises:
      MissingBackendError: there is no such platform.

    >>> devices("numpy")[0]
    NumpyDevice(id=0)

    Source: ``jax.devices``.
    """
    module = xla()
    if backend == "numpy" or module is None:
        if backend not in (None, "numpy", "cpu"):
            raise ArgumentValueError(
                f"devices: expected 'cpu', as jaxlib is not installed, got {backend!r}; install lawful-xla-backend"
            )
        return numpy_devices()
    found: list[Device] = module.devices(backend)
    return found


def local_devices(process_index: int | None = None, backend: str | None = None) -> list[Device]:
    """Returns the devices of a process, by default of this one.

    Args:
      process_index: the number of the process.
      backend: as for `devices`.

    >>> local_devices(backend="numpy")[0]
    NumpyDevice(id=0)
    >>> local_devices(1, "numpy")
    []

    Source: ``jax.local_devices``.
    """
    wanted = _process_index() if process_index is None else process_index
    return [device for device in devices(backend) if device.process_index == wanted]


def device_count(backend: str | None = None) -> int:
    """Returns the number of all devices, those of other processes included.

    >>> device_count() == len(devices())
    True

    Source: ``jax.device_count``.
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Returns the number of devices of this process.

    >>> local_device_count() == len(local_devices())
    True

    Source: ``jax.local_device_count``.
    """
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """Returns the number of this process, 0 where there is one.

    >>> process_index()
    0

    Source: ``jax.process_index``.
    """
    module = xla()
    if module is None or backend == "numpy":
        return 0
    return int(_client(module, backend).process_index())


_process_index = process_index


def process_count(backend: str | None = None) -> int:
    """Returns the number of processes.

    >>> process_count()
    1

    Source: ``jax.process_count``.
    """
    return max(device.process_index for device in devices(backend)) + 1


def _client(module: Any, backend: str | None) -> Any:
    return module.devices(backend)[0].client
