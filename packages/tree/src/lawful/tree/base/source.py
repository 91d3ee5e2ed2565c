"""Which line of the user's program is running: the place that an error or an equation names.

A place is kept as the code object and the instruction offset, and is turned into a line number only when
somebody reads it: looking up a line costs time in proportion to the length of the function.
"""

from __future__ import annotations

import sys
import threading
from opcode import opmap
from types import CodeType, FrameType
from typing import Final

from lawful.tree.base.cache import DictCache

# The user's line is never in a file of one of these modules: NumPy and the standard library call back into us.
_internal_modules = {"lawful", "numpy", "functools", "contextlib", "threading", "importlib", "runpy"}

# What `a[i] = x` and `a[x]` are compiled to, in one version of Python or another.
_SUBSCRIPTS = {
    **{opmap[name]: "assignment" for name in ("STORE_SUBSCR", "STORE_SLICE")},
    **{opmap[name]: "index" for name in ("BINARY_SUBSCR", "BINARY_SLICE") if name in opmap},
}

_files: Final[DictCache[str, bool]] = DictCache("files of programs", 8192)
#: Whether a file belongs to an internal module.
_is_internal: Final = _files.entries


class SourceLine:
    """A place in the user's program.

    ``str(source)`` is ``file.py:12 (name of the function)``.
    """

    __slots__ = ("_code", "_instruction")

    def __init__(self, code: CodeType, instruction: int) -> None:
        self._code = code
        self._instruction = instruction

    @property
    def file(self) -> str:
        """The file's path, as Python recorded it."""
        return self._code.co_filename

    @property
    def function(self) -> str:
        """The name of the function."""
        return self._code.co_name

    @property
    def line(self) -> int:
        """The line number, from 1."""
        for start, end, line in self._code.co_lines():
            if start <= self._instruction < end and line is not None:
                return line
        return self._code.co_firstlineno

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.function})"

    def __repr__(self) -> str:
        return f"SourceLine({self})"


_line_cache: Final[DictCache[tuple[int, int], SourceLine]] = DictCache("source lines", 8192)
#: By the identity of the code, which may be reused, and the instruction: all equations of a loop share a few lines.
_lines: Final = _line_cache.entries


def register_internal_module(name: str) -> None:
    """Says that a module and those inside it are not the user's: errors and equations name the line that calls them.

    Args:
      name: of a module or package, such as ``"optimizers"`` or ``"optimizers.rules"``.

    A package of primitives or transformations registers itself once, so that its users see lines of their own.

    >>> register_internal_module("optimizers.rules")
    """
    _internal_modules.add(name)
    _files.clear()


def _classify_file(filename: str, module: str) -> None:
    parts = module.split(".")
    names = [".".join(parts[: i + 1]) for i in range(len(parts))]
    _files.insert(filename, not _internal_modules.isdisjoint(names) or filename.startswith("<lawful"))


class _Place(threading.local):
    """The line that an equation being evaluated again came from, which hides the stack; None otherwise."""

    source: SourceLine | None = None


place = _Place()


class at_source:
    """Makes ``source`` the user's line for what runs inside."""

    __slots__ = ("_before", "_source")

    def __init__(self, source: SourceLine | None) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._before = place.source
        place.source = self._source

    def __exit__(self, *error: object) -> None:
        place.source = self._before


def user_source() -> SourceLine | None:
    """Returns the innermost line on the stack that is in no internal module, or None if there is none.

    `register_internal_module` says which modules are internal: lawful's own are.
    """
    if place.source is not None:
        return place.source
    frame = sys._getframe(1)
    internal = _is_internal
    while frame is not None:
        code = frame.f_code
        try:
            if not internal[code.co_filename]:
                key = (id(code), frame.f_lasti)
                known = _lines.get(key)
                if known is None or known._code is not code:
                    known = _line_cache.insert(key, SourceLine(code, key[1]))
                return known
        except KeyError:
            _classify_file(code.co_filename, frame.f_globals.get("__name__", ""))
            continue
        frame = frame.f_back  # type: ignore[assignment]  # the loop ends at None
    return None


def what_asks(depth: int = 1) -> str | None:
    """Returns what of NumPy's called, if it can be told: ``"numpy.f"``, ``"assignment"`` (``a[i] = x``) or ``"index"``.

    Args:
      depth: how many frames of the caller are known not to be NumPy's.
    """
    frame: FrameType | None = sys._getframe(depth + 1)
    name = None
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "numpy":
        name, frame = frame.f_code.co_qualname.partition(".")[0], frame.f_back
    if name is not None:
        return f"numpy.{name}"
    return None if frame is None else _SUBSCRIPTS.get(frame.f_code.co_code[frame.f_lasti])
