"""The devices that arrays live on."""

from __future__ import annotations

from lawful.xla_backend._runtime import clients
from lawful.xla_backend._runtime.handles import Device


def devices(backend: str | None = None) -> list[Device]:
    """Returns the devices of a platform, by default of the default one.

    The CPU counts as one device; `set_cpu_device_count`, or the environment variable ``LAWFUL_CPU_DEVICES`` or
    ``XLA_FLAGS=--xla_force_host_platform_device_count=8``, set before the first use, make it several. NVIDIA's devices
    are the platform ``"cuda"``, also called ``"gpu"``: they need the plugin that ``jax-cuda13-plugin`` and
    ``jax-cuda13-pjrt`` install, of jaxlib's version, and jax is not needed.

    Raises:
      MissingBackendError: there is no such platform.

    Source: ``jax.devices``.

    >>> devices()[0].platform == default_backend(), len(devices("cpu")) >= 1
    (True, True)
    """
    return list(clients.devices(backend))


def default_backend() -> str:
    """Returns the name of the platform that programs run on by default.

    The environment variable ``LAWFUL_PLATFORM`` names it. Else it is CUDA if there is a device with its plugin.

    >>> default_backend() in ("cpu", "cuda")
    True
    """
    return clients.default_platform()
