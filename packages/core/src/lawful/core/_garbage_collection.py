"""Python's garbage collector while programs grow.

A program consists of many objects, and none is garbage before all are. Python's collector traverses all old objects
whenever their number has grown by a quarter, which is half of the time of a trace of 100,000 equations.

Source: https://docs.python.org/3.12/library/gc.html#gc.set_threshold
"""

from __future__ import annotations

import gc
from typing import Final

#: Python's default number of collections of the middle generation before a full one. Another number was set by the
#: user, or by a Python that collects differently, and stays.
_DEFAULT: Final = 10
#: The number within `rare_collections`. Its value is unusual, so that it is recognized.
_RARE: Final = 301

#: An entry for each `rare_collections` that is entered, in any thread.
# No lock: a collection may start while it is held, and run a finalizer that needs it. The last entry is removed after
# all changes of the number.
_entered: list[None] = []


class rare_collections:
    """While it is entered, in any thread, Python runs full garbage collections a thirtieth as often.

    For traces of large programs. The setting is the process's: lawful never changes it by itself. Young objects are
    collected as ever, and with them nearly every cycle. A threshold that the process has set itself stays. The
    free-threaded build of Python has no generations, and collects as before.

    Law: after the last exit, ``gc.get_threshold()`` is what it was before.

    >>> import gc
    >>> before = gc.get_threshold()
    >>> with rare_collections():
    ...     during = gc.get_threshold()
    >>> during[2] >= before[2], gc.get_threshold() == before
    (True, True)
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _entered.append(None)
        _replace(_DEFAULT, _RARE)

    def __exit__(self, *error: object) -> None:
        _entered.pop()
        if not _entered:
            _replace(_RARE, _DEFAULT)


class no_collections:
    """While it is entered, Python's garbage collector is off: for code that makes many objects and little garbage.

    If it was off before, nothing changes.

    >>> import gc
    >>> with no_collections():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """

    __slots__ = ("_was_enabled",)

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._was_enabled:
            gc.enable()


def _replace(known: int, new: int) -> None:
    young, middle, old = gc.get_threshold()
    if old == known:
        gc.set_threshold(young, middle, new)
