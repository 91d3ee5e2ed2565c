"""Compiles a program, or loads it from the folder of compiled programs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import ShapedArray
from lawful.xla_backend._cache.folder import CacheFolder
from lawful.xla_backend._callbacks.executable import compile_with_functions
from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._runtime import bindings, executables
from lawful.xla_backend._runtime.compilation import compile_module, deserialize
from lawful.xla_backend._runtime.handles import Options, Target


class CompilationCache:
    """The folder in use, with its hits and misses."""

    def __init__(self, folder: CacheFolder | None) -> None:
        self.folder = folder
        self.hits = self.misses = 0
        self.lock = threading.Lock()

    def compile(
        self,
        module: Any,
        target: Target,
        out_avals: Sequence[ShapedArray],
        options: Options,
        functions: Sequence[Callable[..., tuple[Any, ...]]],
    ) -> executables.Executable:
        """Returns the compiled program, from the folder if it is there.

        A program that calls Python functions is not stored: they belong to this process.
        """
        folder = self.folder
        if functions:
            return compile_with_functions(module, target, out_avals, options, functions)
        if folder is None:
            return compile_module(module, target, out_avals, options)
        key = _key(module, target, options)
        stored = folder.read(key)
        if stored is not None:
            try:
                executable = deserialize(stored, target, out_avals, options)
            except XlaError as error:
                folder.refuse(key, f"what cannot be loaded ({error})")
            else:
                with self.lock:
                    self.hits += 1
                return executable
        executable = compile_module(module, target, out_avals, options)
        with self.lock:
            self.misses += 1
        try:
            serialized = executable.serialize()
        except XlaError as error:
            folder.refuse(key, f"one that cannot be stored ({error})")
        else:
            folder.write(key, serialized)
        return executable


def _key(module: Any, target: Target, options: Options) -> str:
    """Returns a hash of everything that determines the compiled program, the same in every process."""
    from hashlib import sha256  # imported late: it takes 3 ms

    found = sha256()
    for part in (
        bindings.bytecode(module),
        executables.options_fingerprint(target, options),
        executables.machine_fingerprint(executables.first_device(target)),
    ):
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()
