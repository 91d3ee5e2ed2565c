"""What happens around each compilation: its time is noted."""

from __future__ import annotations

from time import perf_counter

from lawful.staging._jit.cache_misses import note_compilation


class compiling:
    """Compiles a program, within a ``with`` block.

    Args:
      name: of the function.
      reasons: why the program is compiled again, if it is.
    """

    __slots__ = ("_name", "_reasons", "_start")

    def __init__(self, name: str, *reasons: str) -> None:
        self._name = name
        self._reasons = reasons

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            note_compilation(self._name, self._reasons, perf_counter() - self._start)
