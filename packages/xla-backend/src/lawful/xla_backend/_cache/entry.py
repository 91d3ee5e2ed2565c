"""The format of a stored entry: a magic line, a checksum, and compressed bytes."""

from __future__ import annotations

import zlib
from typing import Final

_MAGIC: Final = b"lawful compiled program 1\n"


def pack(key: str, data: bytes) -> bytes:
    """Returns the entry that stores some bytes under a key."""
    compressed = zlib.compress(data, 1)
    return _MAGIC + _checksum(key, compressed) + compressed


def unpack(key: str, entry: bytes) -> bytes | None:
    """Returns the bytes stored under the key; None if the entry is anything else."""
    start = len(_MAGIC) + 32
    compressed = entry[start:]
    return zlib.decompress(compressed) if entry[:start] == _MAGIC + _checksum(key, compressed) else None


def _checksum(key: str, compressed: bytes) -> bytes:
    from hashlib import sha256  # imported late: it takes 3 ms

    return sha256(key.encode() + compressed).digest()
