"""The line of the user's program that is running, which errors and equations name.

It is stored as the code object and the instruction offset, and converted to a line number only when it is read: finding
a line takes time proportional to the length of the function.
"""

from __future__ import annotations

import sys
import threading
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, Final

from lawful.tree.base.cache import DictCache

# Modules that never contain the user's line: NumPy and the standard library call back into lawful.
_internal_modules = {"lawful", "numpy", "functools", "contextlib", "threading", "importlib", "runpy"}

# The opcodes of `a[i] = x` and `a[x]`, in the supported versions of Python.
_SUBSCRIPTS = {
    **{opmap[name]: "assignment" for name in ("STORE_SUBSCR", "STORE_SLICE")},
    **{opmap[name]: "index" for name in ("BINARY_SUBSCR", "BINARY_SLICE") if name in opmap},
}

_files: Final[DictCache[str, bool]] = DictCache("files of programs", 8192)
#: The frame, or its function's ``__module__``, a number of calls up the stack.
_frame_at, _module_at = sys._getframe, sys._getframemodulename
#: See `register_dispatch_module`.
_dispatch_modules: Final[set[str | None]] = set()
#: Whether a file belongs to an internal module.
_is_internal: Final = _files.entries


class SourceLine:
    """A line of the user's program.

    ``str(source)`` is ``folder/file.py:12 (name of the function)``, with the path as Python recorded it. For a test,
    ``SourceLine(function.__code__, 0)`` is the first line of a function's body.
    """

    __slots__ = ("_code", "_instruction")

    #: The rules that made an equation from this line, the first one first, such as ``"jvp rule of log"``. They are
    #: known only while rules are observed: see `lawful.core.rule_hook`.
    rules: tuple[str, ...] = ()

    def __init__(self, code: CodeType, instruction: int) -> None:
        self._code = code
        self._instruction = instruction

    def through(self, rule: str) -> SourceLine:
        """Returns the line of the equations that a rule makes of an equation from this line."""
        line = _RuleLine(self._code, self._instruction)
        line.rules = (*self.rules, rule)
        return line

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


class _RuleLine(SourceLine):
    """A line with rules."""

    __slots__ = ("rules",)


_line_cache: Final[DictCache[tuple[int, int], SourceLine]] = DictCache("source lines", 8192)
#: By the id of the code object, which may be reused, and the instruction. Equations of a loop share a few lines.
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


def register_dispatch_module(name: str) -> None:
    """Says that `user_source` passes over the frames of an internal module by its name.

    That takes half the time: a frame that is looked at becomes an object. No public function may have the module as its
    ``__module__``, since ``functools.wraps`` gives that of the wrapped function to a user's function.

    Args:
      name: the module's ``__name__``.
    """
    _dispatch_modules.add(name)


def _classify_file(filename: str, module: str) -> None:
    parts = module.split(".")
    names = [".".join(parts[: i + 1]) for i in range(len(parts))]
    _files.insert(filename, not _internal_modules.isdisjoint(names) or filename.startswith("<lawful"))


class _SourceOverride(threading.local):
    """The source line of the equation being evaluated, which replaces that of the stack; None if there is none."""

    source: SourceLine | None = None


source_override = _SourceOverride()


class at_source:
    """Makes ``source`` the user's line for what runs inside."""

    __slots__ = ("_before", "_source")

    def __init__(self, source: SourceLine | None) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._before = source_override.source
        source_override.source = self._source

    def __exit__(self, *error: object) -> None:
        source_override.source = self._before


def user_source() -> SourceLine | None:
    """Returns the innermost line on the stack that is in no internal module, or None if there is none.

    `register_internal_module` says which modules are internal: lawful's own are.
    """
    if source_override.source is not None:
        return source_override.source
    depth, module_at, dispatch = 1, _module_at, _dispatch_modules
    while module_at(depth) in dispatch:
        depth += 1
    try:
        frame: Any = _frame_at(depth)
    except ValueError:  # there is no frame left
        return None
    internal = _is_internal
    while True:
        try:
            while internal[frame.f_code.co_filename]:
                frame = frame.f_back
            break
        except KeyError:
            _classify_file(frame.f_code.co_filename, frame.f_globals.get("__name__", ""))
        except AttributeError:  # there is no frame left
            return None
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    known = _lines.get(key)
    if known is None or known._code is not code:
        known = _line_cache.insert(key, SourceLine(code, key[1]))
    return known


def numpy_caller(depth: int = 1) -> str | None:
    """Returns the NumPy function that called, ``"assignment"`` (``a[i] = x``), ``"index"``, or None if unknown.

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
