"""Hooks, which install accelerators, and the switch between plain interpreters and accelerators.

A plain interpreter is the specification. An accelerator returns the same results faster. It is in the folder ``_fast``
of its package, and is installed in the `Hook` of the interpreter that it replaces. ``LAWFUL_FAST=0`` in the
environment, or `plain`, switches all accelerators off. `plain_traces` does so for the traces of a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from lawful.tree.base import environment_switch


class Hook[T]:
    """Where an accelerator is installed.

    Args:
      name: of the interpreter.
      plain: the interpreter, a function or a class.
      switch: called with ``use`` whenever that changes.

    Attributes:
      use: the accelerator if one is installed and switched on, else the plain interpreter.

    Law: ``use`` returns what ``plain`` returns.

    >>> from lawful.core import Hook
    >>> double = Hook("double", lambda x: 2 * x)
    >>> double.install(lambda x: x + x)
    >>> double.use(4)
    8
    """

    __slots__ = ("_fast", "_overrides", "_switch", "name", "plain", "use")

    def __init__(self, name: str, plain: T, switch: Callable[[T], None] | None = None) -> None:
        self.name = name
        self.plain = self.use = plain
        self._fast: T | None = None
        self._overrides: list[T] = []
        self._switch = switch
        with _lock:
            _hooks.append(self)

    @property
    def for_traces(self) -> T:
        """The interpreter for a trace that begins here: ``use``, or the plain one inside `plain_traces`."""
        return self.plain if _thread.plain_depth else self.use

    def install(self, fast: T) -> None:
        """Installs an accelerator."""
        self._fast = fast
        self.choose()

    def override(self, other: T) -> None:
        """Sets ``use`` to something else, which has the same results, until `restore` ends that. The last one wins."""
        with _lock:
            self._overrides.append(other)
            self.choose()

    def restore(self, other: T) -> None:
        """Ends an `override`."""
        with _lock:
            self._overrides.remove(other)
            self.choose()

    def is_overridden_by(self, other: T) -> bool:
        """Whether an `override` by ``other`` has not ended."""
        return other in self._overrides

    def choose(self) -> None:
        """Sets ``use`` to the accelerator or the plain interpreter."""
        if self._overrides:
            self.use = self._overrides[-1]
        else:
            self.use = self.plain if self._fast is None or _plain_depth else self._fast
        if self._switch is not None:
            self._switch(self.use)


_hooks: Final[list[Hook[Any]]] = []
_lock: Final = threading.RLock()
#: How many times accelerators are switched off: by the environment, and by each `plain` that is entered.
_plain_depth = 0 if environment_switch("LAWFUL_FAST", default="1") else 1


class _Thread(threading.local):
    plain_depth = 0


_thread: Final = _Thread()


def traces_are_plain() -> bool:
    """Whether this thread is inside `plain_traces`."""
    return _thread.plain_depth > 0


class plain_traces:
    """While a thread is inside it, what the thread traces runs on the plain interpreters.

    Accelerators replay cached equations as they are. Here each equation is typed where it is recorded.

    >>> with plain_traces():
    ...     traces_are_plain()
    True
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _thread.plain_depth += 1

    def __exit__(self, *error: object) -> None:
        _thread.plain_depth -= 1


def is_plain() -> bool:
    """Whether the plain interpreters are in use.

    >>> with plain():
    ...     is_plain()
    True
    """
    return _plain_depth > 0


class plain:
    """While it is entered, programs run on the plain interpreters, in every thread.

    Law: no result changes.

    >>> with plain():
    ...     is_plain()
    True
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _count(1)

    def __exit__(self, *error: object) -> None:
        _count(-1)


def _count(change: int) -> None:
    global _plain_depth
    with _lock:
        was_plain = is_plain()
        _plain_depth += change
        if is_plain() != was_plain:
            for hook in _hooks:
                hook.choose()
