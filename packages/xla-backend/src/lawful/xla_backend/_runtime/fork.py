"""Refuses to use XLA in a process forked from one that already used it: its threads do not live on in the child."""

from __future__ import annotations

import os
import weakref
from typing import Any, NoReturn

from lawful.xla_backend._errors import ForkedProcessError

#: Whether this process was forked from one that had a client. Callers test it before they call `refuse`.
is_forked = False

_has_client = False
_executables: weakref.WeakSet[Any] = weakref.WeakSet()


def refuse(*_: object) -> NoReturn:
    """Raises ForkedProcessError."""
    raise ForkedProcessError(
        "XLA: expected a process that started afresh, got one forked after XLA was first used, where it would hang; "
        'start processes with multiprocessing.get_context("spawn")'
    )


def record_client() -> None:
    """Records that a client exists, so that a fork from here on is refused."""
    global _has_client
    _has_client = True


def register_executable(executable: Any) -> None:
    """Makes an executable refuse to run after a fork, at no cost to calls in the parent."""
    _executables.add(executable)


def _after_fork() -> None:
    global is_forked
    if _has_client:
        is_forked = True
        for executable in list(_executables):
            executable.execute = refuse


os.register_at_fork(after_in_child=_after_fork)
