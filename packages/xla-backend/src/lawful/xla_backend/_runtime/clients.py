"""Platforms, their clients and their devices.

>>> client() is client(default_platform())
True
"""

from __future__ import annotations

import operator
import os
import threading
from functools import cache
from typing import Any, cast

from lawful.core import ArgumentTypeError, ArgumentValueError, cpu_device_count
from lawful.staging import MissingBackendError
from lawful.xla_backend._errors import RuntimeStartedError
from lawful.xla_backend._runtime import bindings, cuda, distributed, fork
from lawful.xla_backend._runtime.handles import Device


def _cpu_device_count() -> int:
    """Returns the number of devices that the CPU counts as: what was set, else what the environment says."""
    return cpu_device_count() if _set_cpu_device_count is None else _set_cpu_device_count


def _make_cpu_client() -> Any:
    count = _cpu_device_count()
    return distributed.make_cpu_client(_processes, count) if _processes else bindings.make_cpu_client(count)


_client_makers = {"cpu": _make_cpu_client, "cuda": cuda.make_client}
_clients: dict[str, Any] = {}
_lock = threading.Lock()
_set_cpu_device_count: int | None = None
_processes: distributed.Processes | None = None


def set_processes(processes: distributed.Processes) -> None:
    """Makes this process one of several, whose CPUs count as devices of each other.

    Raises:
      RuntimeStartedError: devices are in use already.

    >>> from lawful.xla_backend import devices
    >>> _ = devices()
    >>> set_processes(None)
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.RuntimeStartedError: ...initialize: expected a process that has not used ...
    """
    global _processes
    with _lock:
        require_not_started("initialize")
        _processes = processes
        bindings.set_processes(processes.wait, processes.explained)


def processes() -> distributed.Processes | None:
    """Returns what was given to `set_processes`; None where this process is alone."""
    return _processes


def require_not_started(name: str) -> None:
    """Raises RuntimeStartedError if devices are in use already.

    >>> from lawful.xla_backend import devices
    >>> _ = devices()
    >>> require_not_started("initialize")
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.RuntimeStartedError: ...initialize: expected a process that has not used ...
    """
    if _clients:
        raise RuntimeStartedError(
            f"{name}: expected a process that has not used its devices yet, got one that uses those of "
            f"{' and '.join(_clients)}; call it before the first array is made, program compiled, or devices() called"
        )


def started_platforms() -> tuple[str, ...]:
    """Returns the names of the platforms whose devices are in use.

    >>> from lawful.xla_backend import devices
    >>> _ = devices("cpu")
    >>> "cpu" in started_platforms()
    True
    """
    return tuple(_clients)


def set_cpu_device_count(count: int) -> None:
    """Makes the CPU count as several devices; it goes before ``LAWFUL_CPU_DEVICES`` and ``XLA_FLAGS``.

    Call it before the CPU is first used: before an array is made on it, a program compiled, or `devices` called.

    Args:
      count: the number of devices, at least 1.

    Raises:
      ArgumentTypeError: the count is no integer.
      ArgumentValueError: it is less than 1.
      RuntimeStartedError: the CPU is in use already, with another number of devices.

    >>> set_cpu_device_count(len(devices("cpu")))

    Source: JAX's switch ``jax_num_cpu_devices``.
    """
    global _set_cpu_device_count
    try:
        count = operator.index(count)
    except TypeError:
        raise ArgumentTypeError(f"set_cpu_device_count: expected an integer, got {count!r}; give 1 or more") from None
    if count < 1:
        raise ArgumentValueError(f"set_cpu_device_count: expected a positive integer, got {count}; give 1 or more")
    with _lock:
        started = _clients.get("cpu")
        if started is None:
            _set_cpu_device_count = count
        elif len(started.local_devices()) != count:
            raise RuntimeStartedError(
                f"set_cpu_device_count: expected a process that has not used the CPU yet, got one that uses it as "
                f"{len(started.local_devices())} devices; call it before the first array is made or program compiled, "
                "or set LAWFUL_CPU_DEVICES"
            )


def _available(name: str, argument: str) -> str:
    """Returns the name of a platform that is there; ``"gpu"`` is CUDA, as in JAX."""
    found = bindings.PLATFORM_NAMES.get(name, name)
    if found not in _client_makers:
        raise MissingBackendError(f"{argument}: expected 'cpu' or 'cuda', got {name!r}; choose one of those")
    if found == "cuda" and (cure := _why_no_cuda()):
        raise MissingBackendError(f"{argument}: expected a platform that is there, 'cpu', got {name!r}; {cure}")
    return found


def _why_no_cuda() -> str | None:
    if os.environ.get("LAWFUL_PLATFORM") == "cpu":
        return "unset LAWFUL_PLATFORM, which asks for the CPU alone"
    return cuda.why_absent()


@cache
def default_platform() -> str:
    """Returns the platform that programs run on: ``LAWFUL_PLATFORM``, else CUDA if there is a device and its plugin.

    With ``LAWFUL_PLATFORM=cpu`` no other platform is looked for.

    Raises:
      MissingBackendError: the variable names a platform that is not there.
    """
    if wanted := os.environ.get("LAWFUL_PLATFORM"):
        return _available(wanted, "LAWFUL_PLATFORM")
    return "cpu" if _why_no_cuda() else "cuda"


def client(platform: str | None = None) -> Any:
    """Returns the one client of a platform, made at the first call.

    Raises:
      MissingBackendError: there is no such platform.
      ForkedProcessError: this process was forked from one that had a client.
      XlaError: the platform's plugin cannot use a device.
    """
    name = default_platform() if platform is None else platform
    if fork.is_forked:
        fork.refuse()
    found = _clients.get(name)
    if found is None:
        name = _available(name, "platform")
        with _lock:
            if name not in _clients:
                _clients[name] = _client_makers[name]()
                fork.record_client()
            found = _clients[name]
    return found


@cache
def devices(platform: str | None = None) -> tuple[Device, ...]:
    """Returns the devices of a platform, those of other processes included."""
    return tuple(client(platform).devices())


@cache
def default_device(platform: str | None = None) -> Device:
    """Returns the device where arrays are put by default: the first one of this process."""
    return cast(Device, client(platform).local_devices()[0])


def has_several_devices() -> bool:
    """Whether programs may run on more than one device, of any platform."""
    return len(devices()) > 1 or default_platform() != "cpu"
