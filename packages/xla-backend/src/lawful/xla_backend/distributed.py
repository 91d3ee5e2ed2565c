"""The runtime of several processes, for `lawful.parallel`: users call its ``initialize``."""

from lawful.xla_backend._runtime.clients import require_not_started, set_processes
from lawful.xla_backend._runtime.distributed import Group, Processes, connect, serve

__all__ = ["Group", "Processes", "connect", "require_not_started", "serve", "set_processes"]
