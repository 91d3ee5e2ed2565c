"""Platforms, their clients and their devices.

>>> client() is client(default_platform())
True
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from lawful.core import ArgumentValueError
from lawful.staging import MissingBackendError
from lawful.xla_backend._runtime import bindings, cuda, fork
from lawful.xla_backend._runtime.handles import Device


def _make_cpu_client() -> Any:
    text = os.environ.get("LAWFUL_NUM_CPU_DEVICES", "1")
    if not text.isdecimal() or text == "0":
        raise ArgumentValueError(
            f"LAWFUL_NUM_CPU_DEVICES: expected a positive integer, got {text!r}; correct or unset it"
        )
    return bindings.make_cpu_client(int(text))


_client_makers = {"cpu": _make_cpu_client, "cuda": cuda.make_client}
_clients: dict[str, Any] = {}
_lock = threading.Lock()


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
    """Returns the devices of a platform; the first is where arrays are put by default."""
    return tuple(client(platform).local_devices())


def has_several_devices() -> bool:
    """Whether programs may run on more than one device, of any platform."""
    return len(devices()) > 1 or default_platform() != "cpu"
