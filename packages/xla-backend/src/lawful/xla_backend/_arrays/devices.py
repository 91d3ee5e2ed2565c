"""The devices that arrays live on."""

from __future__ import annotations

from lawful.xla_backend._runtime import clients
from lawful.xla_backend._runtime.handles import Device


def devices(backend: str | None = None) -> list[Device]:
    """Returns the devices of a platform, by default of the default one.

    The CPU counts as one device; the environment variable ``LAWFUL_NUM_CPU_DEVICES``, set before the first use,
    makes it several.

    Raises:
      ArgumentValueError: there is no such platform.

    Source: ``jax.devices``.
    """
    return list(clients.devices(backend))


def default_backend() -> str:
    """Returns the name of the platform that programs run on by default.

    >>> default_backend()
    'cpu'
    """
    return clients.platforms()[0]
