"""A folder of bytes by key that several processes read and write at once; its errors are warnings.

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
from contextlib import suppress
from typing import Final

import lawful
from lawful.xla_backend._cache.entry import pack, unpack
from lawful.xla_backend._errors import CompilationCacheWarning

_STORED: Final = ".lawful"
_UNFINISHED: Final = ".lawful-unfinished"
#: An unfinished file that is this many seconds old belongs to a process that was killed.
_ABANDONED: Final = 3600.0
#: The folder is measured again when this process has written this fraction of the maximal size: 1/64.
_COUNTS_PER_SIZE: Final = 64


class CacheFolder:
    """A folder that stores bytes by key, with a maximal size; the least recently used entries are removed.

    A file appears whole or not at all, and is checked when it is read. Files with other suffixes are left alone.
    A problem with the folder or a file is a `CompilationCacheWarning`, given once, and not an exception.

    Attributes:
      path: the folder, which is made when something is written.
      max_size: how many bytes the files may have together; processes that write at once may exceed it by a little.
    """

    def __init__(self, path: str, max_size: int) -> None:
        self.path = path
        self.max_size = max_size
        # The files of other processes are measured at the first write.
        self._uncounted = max_size
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def _file(self, key: str) -> str:
        return os.path.join(self.path, key + _STORED)

    def read(self, key: str) -> bytes | None:
        """Returns the bytes of a key; None if there are none or they are damaged."""
        path = self._file(key)
        try:
            with open(path, "rb") as file:
                entry = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._cannot_be_used(error)
            return None
        data = unpack(key, entry)
        if data is None:
            self.refuse(key, "damaged or foreign bytes")
            return None
        # Records the time of use; impossible in a read-only folder.
        with suppress(OSError):
            os.utime(path)
        return data

    def write(self, key: str, data: bytes) -> None:
        """Stores bytes under a key; without effect if they exceed the maximal size."""
        entry = pack(key, data)
        if len(entry) > self.max_size:
            return
        unfinished = os.path.join(self.path, f"{key}-{os.urandom(8).hex()}{_UNFINISHED}")
        try:
            # Loaded programs run with the user's rights: nobody else may write here.
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
        """Removes the least recently used files until the rest fits."""
        with self._lock:
            self._uncounted += written
            if self._uncounted * _COUNTS_PER_SIZE < self.max_size:
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
        """Returns the modification time, size and path of each file with a suffix."""
        found = []
        with os.scandir(self.path) as files:
            for file in files:
                if file.name.endswith(suffix):
                    with suppress(FileNotFoundError):  # another process may remove it meanwhile
                        status = file.stat()
                        found.append((status.st_mtime, status.st_size, file.path))
        return found

    # Warnings

    def refuse(self, key: str, got: str) -> None:
        """Warns that the bytes of a key are unusable."""
        file = self._file(key)
        self._warn(
            file,
            f"compilation cache: expected a compiled program in {file}, got {got}; it is compiled and stored anew: if "
            "this is told again, delete the file, and look who else writes to the folder",
        )

    def _cannot_be_used(self, error: OSError) -> None:
        self._warn(
            self.path,
            f"compilation cache: expected to read and write files in {self.path}, got {error}; programs are compiled "
            "and not stored: correct this, or give another folder to set_cache_dir or LAWFUL_COMPILATION_CACHE_DIR",
        )

    def _warn(self, path: str, text: str) -> None:
        with self._lock:
            if path in self._warned:
                return
            self._warned.add(path)
        warnings.warn(text, CompilationCacheWarning, skip_file_prefixes=tuple(lawful.__path__))


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):  # another process was faster
        os.remove(path)
