"""A folder of bytes by key, which several processes read and write at once, and which never makes a program fail.

>>> import tempfile
>>> folder = CacheFolder(tempfile.mkdtemp(), max_size=1_000_000)
>>> folder.write("key", b"bytes")
>>> folder.read("key")
b'bytes'
"""

from __future__ import annotations

import os
import threading
import time
import warnings
import zlib
from contextlib import suppress
from typing import Final

import lawful
from lawful.xla_backend._errors import CompilationCacheWarning

_MAGIC: Final = b"lawful compiled program 1\n"
_STORED: Final = ".lawful"
_UNFINISHED: Final = ".lawful-unfinished"
#: A file that was begun so many seconds ago is of a process that was ended before it finished.
_ABANDONED: Final = 3600.0
#: The folder is counted again after this part of its largest size was written by this process.
_COUNTED_AGAIN: Final = 64


class CacheFolder:
    """A folder that keeps bytes by key: as many as it may hold, those that were used last.

    A file appears whole or not at all, is checked when it is read, and is left alone if its name is not one of these.
    What is wrong with the folder or a file of it is told by a `CompilationCacheWarning`, once, and not raised.

    Attributes:
      path: the folder, which is made when something is written.
      max_size: how many bytes the files may have together; processes that write at once may exceed it by a little.
    """

    def __init__(self, path: str, max_size: int) -> None:
        self.path = path
        self.max_size = max_size
        # What others have written is counted with the first file.
        self._uncounted = max_size
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def _file(self, key: str) -> str:
        return os.path.join(self.path, key + _STORED)

    def read(self, key: str) -> bytes | None:
        """Returns the bytes of a key; None if there are none, or if they are not what was written."""
        path = self._file(key)
        try:
            with open(path, "rb") as file:
                entry = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._cannot_be_used(error)
            return None
        data = _unpack(key, entry)
        if data is None:
            self.refuse(key, "damaged or foreign bytes")
            return None
        # The order of use; who may only read the folder does not keep one.
        with suppress(OSError):
            os.utime(path)
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keeps bytes under a key; without effect if the folder cannot hold them."""
        entry = _pack(key, data)
        if len(entry) > self.max_size:
            return
        unfinished = os.path.join(self.path, f"{key}-{os.urandom(8).hex()}{_UNFINISHED}")
        try:
            # What is loaded from it runs: by default it is nobody else's.
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            try:
                with open(unfinished, "xb") as file:
                    file.write(entry)
                os.replace(unfinished, self._file(key))
            except BaseException:
                with suppress(OSError):
                    os.remove(unfinished)
                raise
            self._make_room(len(entry))
        except OSError as error:
            self._cannot_be_used(error)

    def _make_room(self, written: int) -> None:
        """Removes what was not used for longest, until the rest is small enough."""
        with self._lock:
            self._uncounted += written
            if self._uncounted * _COUNTED_AGAIN < self.max_size:
                return
            self._uncounted = 0
        stored = self._files(_STORED)
        excess = sum(size for _, size, _ in stored) - self.max_size
        for _, size, path in sorted(stored):
            if excess <= 0:
                break
            _remove(path)
            excess -= size
        for changed, _, path in self._files(_UNFINISHED):
            if changed < time.time() - _ABANDONED:
                _remove(path)

    def _files(self, suffix: str) -> list[tuple[float, int, str]]:
        """Returns when the files of a kind were changed last, their sizes and their paths."""
        found = []
        with os.scandir(self.path) as files:
            for file in files:
                if file.name.endswith(suffix):
                    with suppress(FileNotFoundError):  # another process may remove it meanwhile
                        status = file.stat()
                        found.append((status.st_mtime, status.st_size, file.path))
        return found

    # What is wrong

    def refuse(self, key: str, got: str) -> None:
        """Tells that the bytes of a key are of no use."""
        file = self._file(key)
        self._tell(
            file,
            f"compilation cache: expected a compiled program in {file}, got {got}; it is compiled and stored anew: if "
            "this is told again, delete the file, and look who else writes to the folder",
        )

    def _cannot_be_used(self, error: OSError) -> None:
        self._tell(
            self.path,
            f"compilation cache: expected to read and write files in {self.path}, got {error}; programs are compiled "
            "and not stored: correct this, or give another folder to set_cache_dir or LAWFUL_COMPILATION_CACHE_DIR",
        )

    def _tell(self, path: str, text: str) -> None:
        with self._lock:
            if path in self._told:
                return
            self._told.add(path)
        warnings.warn(text, CompilationCacheWarning, skip_file_prefixes=tuple(lawful.__path__))


def _pack(key: str, data: bytes) -> bytes:
    compressed = zlib.compress(data, 1)
    return _MAGIC + _checksum(key, compressed) + compressed


def _unpack(key: str, entry: bytes) -> bytes | None:
    """Returns what was packed under the key; None if the entry is anything else."""
    start = len(_MAGIC) + 32
    compressed = entry[start:]
    return zlib.decompress(compressed) if entry[:start] == _MAGIC + _checksum(key, compressed) else None


def _checksum(key: str, compressed: bytes) -> bytes:
    from hashlib import sha256  # imported late: it takes 3 ms

    return sha256(key.encode() + compressed).digest()


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):  # another process was faster
        os.remove(path)
