"""Messages between processes over a socket: a header, which is a dictionary of JSON, and bytes."""

from __future__ import annotations

import json
import socket
import struct
from contextlib import suppress
from typing import Any, Final

_FRAME: Final = struct.Struct(">4sIQ")
_MAGIC: Final = b"LWF1"

Header = dict[str, Any]


class NotAMessageError(OSError):
    """The other side speaks something else."""


def send(connection: socket.socket, header: Header, payload: bytes = b"") -> None:
    """Sends one message.

    Raises:
      OSError: the connection is gone.
    """
    text = json.dumps(header).encode()
    connection.sendall(_FRAME.pack(_MAGIC, len(text), len(payload)) + text)
    if payload:
        connection.sendall(payload)


def receive(connection: socket.socket) -> tuple[Header, bytes] | None:
    """Returns the next message; None at the end of the connection.

    Raises:
      OSError: the connection broke, or what came is no message.
    """
    frame = _exactly(connection, _FRAME.size)
    if frame is None:
        return None
    magic, text_size, payload_size = _FRAME.unpack(frame)
    if magic != _MAGIC:
        raise NotAMessageError("not a process of lawful")
    text, payload = _exactly(connection, text_size), _exactly(connection, payload_size)
    if text is None or payload is None:
        return None
    return json.loads(text), payload


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray(size)
    view, start = memoryview(received), 0
    while start < size:
        count = connection.recv_into(view[start:])
        if count == 0:
            return None
        start += count
    return bytes(received)


def configure(connection: socket.socket, heartbeat: int) -> None:
    """Sends small messages at once, and finds out within ``heartbeat`` seconds that the other machine is gone.

    The end of a process closes its connections at once; only where a machine or a network fails does nothing come.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probes = 4
    for name, value in (
        ("TCP_KEEPIDLE", max(1, heartbeat // 2)),
        ("TCP_KEEPINTVL", max(1, heartbeat // (2 * probes))),
        ("TCP_KEEPCNT", probes),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def closed(connection: socket.socket) -> None:
    """Ends a connection, also where a forked process still has it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
