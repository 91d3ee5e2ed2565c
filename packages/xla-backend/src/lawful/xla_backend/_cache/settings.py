"""The setting of the compilation cache: programs that one process compiled, the next one loads.

The folder is set by the environment variable ``LAWFUL_COMPILATION_CACHE_DIR`` or here:

>>> import tempfile
>>> from lawful.staging import jit
>>> set_cache_dir(tempfile.mkdtemp())
>>> for _ in range(2):
...     _ = jit(lambda x: 3.0 * x)(1.0)
>>> cache_info().hits, cache_info().misses
(1, 1)
>>> set_cache_dir(None)
"""

from __future__ import annotations

import os
import threading
from typing import Final, NamedTuple

from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.xla_backend._cache.compilation import CompilationCache
from lawful.xla_backend._cache.folder import CacheFolder

_DIR: Final = "LAWFUL_COMPILATION_CACHE_DIR"
_MAX_SIZE: Final = "LAWFUL_COMPILATION_CACHE_MAX_SIZE"
#: The default maximal size of the folder in bytes.
_GIBIBYTE: Final = 1 << 30


class CacheInfo(NamedTuple):
    """The use of the folder of compiled programs in this process.

    Attributes:
      hits: how many programs were loaded.
      misses: how many were compiled because they were not there.
      dir: the folder; None if there is none.
      max_size: how many bytes it may hold.

    >>> info = CacheInfo(hits=3, misses=1, dir="/tmp/programs", max_size=1 << 30)
    >>> info.hits / (info.hits + info.misses)
    0.75
    """

    hits: int
    misses: int
    dir: str | None
    max_size: int


def _from_environment() -> CompilationCache:
    path = os.environ.get(_DIR)
    if not path:
        return CompilationCache(None)
    size = os.environ.get(_MAX_SIZE, str(_GIBIBYTE))
    if not size.isdecimal():
        raise ArgumentValueError(f"{_MAX_SIZE}: expected a number of bytes, got {size!r}; correct or unset it")
    return CompilationCache(_folder(path, int(size)))


def _folder(path: str, max_size: int) -> CacheFolder:
    # Absolute, so that it does not depend on the current directory.
    return CacheFolder(os.path.abspath(os.path.expanduser(path)), max_size)


_cache: CompilationCache | None = None
_lock = threading.Lock()


def compilation_cache() -> CompilationCache:
    """Returns the cache in use: before `set_cache_dir` it is the one that the environment asks for."""
    global _cache
    with _lock:
        if _cache is None:
            _cache = _from_environment()
        return _cache


def set_cache_dir(path: str | os.PathLike[str] | None, *, max_size: int = _GIBIBYTE) -> None:
    """Makes this process store what it compiles in a folder, and load from there what any process stored.

    Args:
      path: the folder, made when it is first needed; None for none. It holds machine code that will run: nobody should
        be able to write to it who may not run programs as you. A new one is yours only.
      max_size: how many bytes it may hold; what was not used for longest is removed. By default 1 GiB.

    Without a call, the environment variables ``LAWFUL_COMPILATION_CACHE_DIR`` and ``LAWFUL_COMPILATION_CACHE_MAX_SIZE``
    count, from the first program on. A program is found by its StableHLO, the options, the version of jaxlib, and the
    processor; those that call Python functions are not stored. A damaged file or a folder that cannot be used gives a
    `CompilationCacheWarning`, and the program is compiled.

    Raises:
      ArgumentTypeError: the path is none.
      ArgumentValueError: the size is no positive integer, or the path has a NUL.

    Law: a program that is loaded gives bit by bit what the compiled one gives. Source: ``jax_compilation_cache_dir``.

    >>> set_cache_dir(None)
    >>> cache_info()
    CacheInfo(hits=0, misses=0, dir=None, max_size=0)
    """
    global _cache
    if not isinstance(path, str | os.PathLike | None):
        raise ArgumentTypeError(f"set_cache_dir: expected a path or None, got {path!r}; give the path of a folder")
    if path is not None and "\0" in os.fsdecode(path):
        raise ArgumentValueError(f"set_cache_dir: expected a path without NUL, got {path!r}; give the path of a folder")
    if type(max_size) is not int or max_size <= 0:
        raise ArgumentValueError(
            f"set_cache_dir: expected a positive integer as max_size, got {max_size!r}; give a number of bytes"
        )
    found = CompilationCache(None if path is None else _folder(os.fsdecode(path), max_size))
    with _lock:
        _cache = found


def cache_info() -> CacheInfo:
    """Returns how many programs were loaded from the folder, and how many were compiled, since it was set.

    >>> import tempfile
    >>> set_cache_dir(tempfile.mkdtemp(), max_size=1000)
    >>> cache_info().misses, cache_info().max_size
    (0, 1000)
    >>> set_cache_dir(None)
    """
    cache = compilation_cache()
    if cache.folder is None:
        return CacheInfo(0, 0, None, 0)
    return CacheInfo(cache.hits, cache.misses, cache.folder.path, cache.folder.max_size)
