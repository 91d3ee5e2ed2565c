"""Platforms, their clients and their devices.

>>> platforms()
('cpu',)
>>> client() is client("cpu")
True
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from lawful.core import ArgumentValueError
from lawful.xla_backend._runtime import bindings, fork
from lawful.xla_backend._runtime.handles import Device


def _make_cpu_client() -> Any:
    text = os.environ.get("LAWFUL_NUM_CPU_DEVICES", "1")
    if not text.isdecimal() or text == "0":
        raise ArgumentValueError(
            f"LAWFUL_NUM_CPU_DEVICES: expected a positive integer, got {text!r}; correct or unset it"
        )
    return bindings.make_cpu_client(int(text))


# The function that creates the client of a platform. A platform with a plugin (CUDA) adds a function that finds the
# plugin's library, loads it with `xla_client.load_pjrt_plugin_dynamically` and calls `make_c_api_client`.
_client_makers: dict[str, Callable[[], Any]] = {"cpu": _make_cpu_client}
_clients: dict[str, Any] = {}
_lock = threading.Lock()


def platforms() -> tuple[str, ...]:
    """Returns the names of the platforms, the default one first."""
    return tuple(_client_makers)


def client(platform: str | None = None) -> Any:
    """Returns the one client of a platform, made at the first call.

    Raises:
      ArgumentValueError: there is no such platform.
      ForkedProcessError: this process was forked from one that had a client.
    """
    name = platforms()[0] if platform is None else platform
    if fork.is_forked:
        fork.refuse()
    found = _clients.get(name)
    if found is None:
        if name not in _client_makers:
            known = ", ".join(map(repr, _client_makers))
            raise ArgumentValueError(f"platform: expected one of {known}, got {name!r}; choose one of those")
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
