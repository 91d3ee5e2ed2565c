"""Passes on the bytes between jaxlib's client in a process and jaxlib's service in process 0.

The runtime's client aborts its process when its connection ends. So it has a connection to this process only, which
outlives process 0: where that one is gone, nothing comes any more, and Python reports it. All goes through the one port
of the coordinator.
"""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def unix_path() -> Path:
    """Returns a fresh path for a socket, in a folder of its own, which only this user can read."""
    return Path(tempfile.mkdtemp(prefix="lawful-")) / "socket"


def remove(path: Path) -> None:
    """Removes the socket and its folder; a connection that was made stays."""
    path.unlink(missing_ok=True)
    path.parent.rmdir()


class Relay:
    """A socket of the file system, from which each connection goes on to the service.

    Args:
      dial: makes a connection to the service.
    """

    def __init__(self, dial: Callable[[], socket.socket]) -> None:
        self._path = unix_path()
        self._dial = dial
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self.address = f"unix:{self._path}"
        threading.Thread(target=self._accept, name="lawful relay", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._listener.accept()
                outer = self._dial()
            except OSError:
                return
            join(inner, outer, keeps_first=True)

    def hide(self) -> None:
        """Removes the socket's name, once the client has its connection."""
        remove(self._path)


def join(first: socket.socket, second: socket.socket, *, keeps_first: bool = False) -> None:
    """Passes on bytes both ways, until one connection ends; then the other one is ended too.

    Args:
      first: a connection.
      second: another one.
      keeps_first: whether the first one stays open, as long as the process lives, where the second one ends.
    """
    # By their numbers: Python would close objects when it ends, before the runtime is gone.
    here, there = first.detach(), second.detach()
    for source, target, ends in ((here, there, True), (there, here, not keeps_first)):
        threading.Thread(target=_pass_on, args=(source, target, ends), name="lawful relay", daemon=True).start()


def _pass_on(source: int, target: int, ends: bool) -> None:
    try:
        while chunk := os.read(source, 65_536):
            view = memoryview(chunk)
            while view:
                view = view[os.write(target, view) :]
    except OSError:
        pass
    if ends:
        with suppress(OSError), socket.socket(fileno=os.dup(target)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
