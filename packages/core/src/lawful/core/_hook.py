"""The switch between the two layers: plain interpreters, and accelerators that stand in for them.

A plain interpreter is the specification. An accelerator gives the same results sooner. It lives in a folder ``_fast``
of its package, and is installed in the `Hook` of the interpreter that it stands in for. ``LAWFUL_FAST=0`` in the
environment, or `plain`, puts every plain interpreter back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Final


class Hook[T]:
    """Where an accelerator is installed.

    Args:
      name: of the interpreter.
      plain: the interpreter, a function or a class.
      switch: called with what is in use whenever that changes.

    Attributes:
      use: what callers use: the accelerator if one is installed and the plain layer is not asked for.

    Law: ``use`` gives what ``plain`` gives.

    >>> double = Hook("double", lambda x: 2 * x)
    >>> double.install(lambda x: x + x)
    >>> double.use(4)
    8
    """

    __slots__ = ("_fast", "_switch", "name", "plain", "use")

    def __init__(self, name: str, plain: T, switch: Callable[[T], None] | None = None) -> None:
        self.name = name
        self.plain = self.use = plain
        self._fast: T | None = None
        self._switch = switch
        with _lock:
            _hooks.append(self)

    def install(self, fast: T) -> None:
        """Makes an accelerator what callers use."""
        self._fast = fast
        self.choose()

    def choose(self) -> None:
        """Sets ``use`` by the layer that is in use."""
        self.use = self.plain if self._fast is None or _plain_depth else self._fast
        if self._switch is not None:
            self._switch(self.use)


_hooks: Final[list[Hook[Any]]] = []
_lock: Final = threading.RLock()
#: How many times the plain layer is asked for: by the environment, and by each `plain` that is entered.
_plain_depth = 1 if os.environ.get("LAWFUL_FAST", "1") == "0" else 0


def is_plain() -> bool:
    """Whether the plain interpreters are in use."""
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
