"""``jax._src.xla_bridge``, in which ``chex.set_n_cpu_devices`` sees whether it comes too late."""

from __future__ import annotations

from typing import Any

from lawful.jax._support.devices import xla_backend


def __getattr__(name: str) -> Any:
    if name == "_backends":
        return {} if xla_backend is None else dict.fromkeys(xla_backend.started_platforms(), xla_backend)
    raise AttributeError(f"jax._src.xla_bridge.{name} is left out: it is about how JAX is built")
