"""The line of the user's program that is running, which errors and equations name.

It is stored as the code object and the instruction offset, and converted to a line number only when it is read: finding
a line takes time proportional to the length of the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from opcode import opmap
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Final

from lawful.tree.base.cache import DictCache

# Modules that never contain the user's line: libraries of arrays and the standard library call back into lawful.
ARRAY_LIBRARIES: Final = ("numpy", "scipy", "pandas")
_internal_modules = {"lawful", *ARRAY_LIBRARIES, "functools", "contextlib", "threading", "importlib", "runpy"}
_internal_files: Final[set[str]] = set()

_CACHE: Final = opmap["CACHE"]

#: By the path and the module: code without a file, such as ``"<string>"``, shares its path with that of other modules.
_files: Final[DictCache[tuple[str, str], bool]] = DictCache("files of programs", 8192)
#: The frame, or its function's ``__module__``, a number of calls up the stack.
_frame_at, _module_at = sys._getframe, sys._getframemodulename
_DEPTHS: Final = range(1, sys.maxsize)
#: See `register_dispatch_module`.
_dispatch_modules: Final[set[str | None]] = set()


class SourceLine:
    """A line of the user's program.

    ``str(source)`` is ``folder/file.py:12 (name of the function)``, with the path as Python recorded it. For a test,
    ``SourceLine(function.__code__, 0)`` is the first line of a function's body.

    >>> str(SourceLine((lambda: 0).__code__, 0))
    '<doctest ...>:1 (<lambda>)'
    """

    __slots__ = ("_code", "_instruction")

    #: The rules that made an equation from this line, the first one first, such as ``"jvp rule of log"``. They are
    #: known only while rules are observed: see `lawful.core.rule_hook`.
    rules: tuple[str, ...] = ()
    #: For a line inside a user's rule, the line of the call that the rule is applied to.
    caller: SourceLine | None = None

    def __init__(self, code: CodeType, instruction: int) -> None:
        self._code = code
        self._instruction = instruction

    def through(self, rule: str) -> SourceLine:
        """Returns the line of the equations that a rule makes of an equation from this line."""
        return _RuleLine(self._code, self._instruction, (*self.rules, rule), self.caller)

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

    def with_callers(self) -> str:
        """Returns the line, and for one inside a user's rule the lines of the calls that the rule is applied to."""
        rule = "" if self.caller is None else f", in a rule for the call at {self.caller.with_callers()}"
        return f"{self}{rule}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.function})"

    def __repr__(self) -> str:
        return f"SourceLine({self})"


class _RuleLine(SourceLine):
    """A line with rules."""

    __slots__ = ("caller", "rules")

    def __init__(self, code: CodeType, instruction: int, rules: tuple[str, ...], caller: SourceLine | None) -> None:
        super().__init__(code, instruction)
        self.rules = rules
        self.caller = caller


class _RunningRule(SourceLine):
    """The line of the equation that a running rule is applied to. Frames above ``frame`` are those of the rule."""

    __slots__ = ("applied_to", "caller", "frame")

    def __init__(self, applied_to: SourceLine, frame: FrameType, caller: SourceLine | None) -> None:
        self._code = applied_to._code
        self._instruction = applied_to._instruction
        self.applied_to = applied_to
        self.frame = frame
        self.caller = caller

    def inner(self, line: SourceLine) -> SourceLine:
        """Returns a line of the rule, or of the function, that is running; the same one each time."""
        if rules := self.applied_to.rules:
            return _RuleLine(line._code, line._instruction, rules, self.caller)
        if self.caller is None:
            return line
        found = _rule_lines.entries.get((line, self.caller))
        if found is None:
            rule_line = _RuleLine(line._code, line._instruction, (), self.caller)
            found = _rule_lines.insert((line, self.caller), rule_line)
        return found


_line_cache: Final[DictCache[int, SourceLine | CodeType]] = DictCache("source lines", 8192)
#: By the line and its caller. Equal jaxprs are one jaxpr, if their equations have the same lines.
_rule_lines: Final[DictCache[tuple[SourceLine, SourceLine], SourceLine]] = DictCache("source lines in rules", 8192)
#: By the address of an instruction, which is within its code object: the user's line, or an internal function's code.
#: Both keep the code object alive, so that no other one is at the address.
_lines: Final = _line_cache.entries


def register_internal_module(name: str) -> None:
    """Says that a module and those inside it are not the user's: errors and equations name the line that calls them.

    Args:
      name: of a module or package, such as ``"optimizers"`` or ``"optimizers.rules"``.

    A package of primitives or transformations registers itself once, so that its users see lines of their own.

    >>> register_internal_module("optimizers.rules")
    """
    _internal_modules.add(name)
    _forget_lines()


def register_internal_file(path: str) -> None:
    """Says of one file what `register_internal_module` says of a module: a module calls it with its ``__file__``.

    Args:
      path: of the file, as Python recorded it.

    >>> register_internal_file("/optimizers/rules.py")
    """
    _internal_files.add(path)
    _forget_lines()


def _forget_lines() -> None:
    _files.clear()
    _line_cache.clear()
    _rule_lines.clear()


def register_dispatch_module(name: str) -> None:
    """Says that `user_source` passes over the frames of an internal module by its name.

    That takes half the time: a frame that is looked at becomes an object. No public function may have the module as its
    ``__module__``, since ``functools.wraps`` gives that of the wrapped function to a user's function.

    Args:
      name: the module's ``__name__``.

    >>> register_dispatch_module("lawful.core._trace.trace")
    """
    _dispatch_modules.add(name)


def is_internal_file(filename: str, module: str) -> bool:
    """Whether a file belongs to an internal module.

    >>> is_internal_file("rules.py", "lawful.tree.rules"), is_internal_file("program.py", "program")
    (True, False)
    """
    found = _files.entries.get((filename, module))
    if found is None:
        parts = module.split(".")
        names = [".".join(parts[: i + 1]) for i in range(len(parts))]
        is_internal = not _internal_modules.isdisjoint(names) or filename in _internal_files
        is_internal = is_internal or filename.startswith("<lawful")
        found = _files.insert((filename, module), is_internal)
    return found


class _SourceOverride:
    """The source line of the equation being evaluated, which replaces that of the stack; None if there is none.

    Attributes:
      by_thread: the lines of all threads. It is empty unless equations are evaluated, and a lookup is 2× faster than
        that of a ``threading.local``.
    """

    __slots__ = ("by_thread",)

    def __init__(self) -> None:
        self.by_thread: dict[int, SourceLine | None] = {}

    @property
    def source(self) -> SourceLine | None:
        """The line of this thread."""
        return self.by_thread.get(get_ident())

    @source.setter
    def source(self, source: SourceLine | None) -> None:
        if source is None:
            self.by_thread.pop(get_ident(), None)
        else:
            self.by_thread[get_ident()] = source


source_override: Final = _SourceOverride()
_overrides: Final = source_override.by_thread


class at_source:
    """Makes ``source`` the user's line for what runs inside.

    >>> line = SourceLine((lambda: 0).__code__, 0)
    >>> with at_source(line):
    ...     user_source() is line
    True
    """

    __slots__ = ("_before", "_source")

    def __init__(self, source: SourceLine | None) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._before = source_override.source
        source_override.source = self._source

    def __exit__(self, *error: object) -> None:
        source_override.source = self._before


class at_rule(at_source):
    """Makes ``source`` the line of what a rule of lawful does inside, and a line of the rule that of a user's rule.

    A line of a user's rule has the rules of ``source``, and ``source`` as its ``caller``. Finding it takes a walk over
    the frames of the rule.

    Args:
      source: the line of the equation that the rule is applied to, through the rule.

    >>> line = SourceLine((lambda: 0).__code__, 0)
    >>> with at_rule(line.through("jvp rule of sin")):
    ...     user_source().rules
    ('jvp rule of sin',)
    """

    __slots__ = ()

    def __init__(self, source: SourceLine) -> None:
        super().__init__(_RunningRule(source, sys._getframe(1), source))


def call_in_rule(is_rule: bool, call: Callable[..., Any], *args: Any) -> Any:
    """Returns ``call(*args)``; where a rule of lawful is running, the user's code that it calls has lines of its own.

    Args:
      is_rule: whether it calls a user's rule, as in `at_rule`; else it calls the function that has rules, whose lines
        have the caller of the running rule's line.
      call: a function.
      args: its arguments.

    >>> call_in_rule(True, pow, 2, 3)
    8
    """
    thread = get_ident()
    before = _overrides.get(thread)
    source = None if before is None else user_source()
    # A line of another class tells more than a place, such as the equation of the stage before, and stays.
    if before is None or source is None or type(source) not in (SourceLine, _RuleLine):
        return call(*args)
    _overrides[thread] = _RunningRule(source, _frame_at(0), source if is_rule else source.caller)
    try:
        return call(*args)
    finally:
        _overrides[thread] = before


def _looked_up(frame: FrameType) -> SourceLine | CodeType:
    """Returns the line of a frame, or its code if that is internal, and inserts it into the cache."""
    code = frame.f_code
    is_internal = is_internal_file(code.co_filename, frame.f_globals.get("__name__", ""))
    found = code if is_internal else _line_of(code, frame.f_lasti)
    _line_cache.insert(id(code) + frame.f_lasti, found)
    return found


def _line_of(code: CodeType, instruction: int) -> SourceLine:
    """Returns the line of an instruction, the same object before and after Python has specialized the instruction.

    A specialized instruction may be found at the end of its inline caches. Equal jaxprs have the same lines.
    """
    instructions = code.co_code
    while instructions[instruction] == _CACHE:
        instruction -= 2
    found = _lines.get(id(code) + instruction)
    if isinstance(found, SourceLine):
        return found
    line = SourceLine(code, instruction)
    _line_cache.insert(id(code) + instruction, line)
    return line


def user_source() -> SourceLine | None:
    """Returns the innermost line on the stack that is in no internal module, or None if there is none.

    `register_internal_module` says which modules are internal: lawful's own are. While a rule of lawful is running, it
    is the line that the rule is applied to, or that of a user's rule which it calls.

    >>> program = {"__name__": "program", "user_source": user_source}
    >>> exec("line = user_source()", program)
    >>> str(program["line"])
    '<string>:1 (<module>)'
    """
    running, bottom = None, None
    if _overrides and (override := _overrides.get(get_ident())) is not None:
        if type(override) is not _RunningRule:
            return override
        running, bottom = override, override.frame
    module_at, dispatch = _module_at, _dispatch_modules
    for depth in _DEPTHS:  # a constant range is 2× faster than a counter
        if module_at(depth) not in dispatch:
            break
    try:
        frame: FrameType | None = _frame_at(depth)
    except ValueError:  # there is no frame left
        return None
    while frame is not bottom and frame is not None:
        found = _lines.get(id(frame.f_code) + frame.f_lasti) or _looked_up(frame)
        if type(found) is SourceLine:
            return found if running is None else running.inner(found)
        frame = frame.f_back
    return None if running is None else running.applied_to
