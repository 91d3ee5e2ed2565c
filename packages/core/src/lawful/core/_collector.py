"""Python's garbage collector while programs grow.

A program is many objects, none of which is garbage before all of it is. Python's collector goes through everything
old whenever that has grown by a quarter, which was half of the time of a trace of 100,000 equations. While
transformations run it waits for two million new objects. What is young is collected as ever, and with it nearly
every cycle.

Source: https://docs.python.org/3.12/library/gc.html#gc.set_threshold
"""

from __future__ import annotations

import gc
from typing import Final

#: So many collections of what is neither young nor old come before one of everything: Python's own number. Where it
#: is another one, the user has decided, or Python collects in other ways, and nothing is changed.
USUAL: Final = 10
#: The number while transformations run: one that nobody else sets, by which it is known again.
RARE: Final = 301

#: An entry for each transformation that runs, in whatever thread: while it is empty, none does.
# There is no lock: a collection may start while it is held, and run a finalizer that needs it. Whoever takes out the
# last entry comes after all who changed the number.
running: list[None] = []


def hold_back() -> None:
    """Makes collections of everything rare until ``let_go`` has been called as often as this."""
    running.append(None)
    _replace(USUAL, RARE)


def let_go() -> None:
    """Ends what one call of ``hold_back`` began."""
    running.pop()
    if not running:
        _replace(RARE, USUAL)


class rare_collections:
    """While it is entered, in whatever thread, Python goes through all of its objects a thirtieth as often for garbage.

    For what makes or rewrites large programs. Every transformation does it while it calls the user's function. Of a
    process that has set a threshold of its own, or whose Python collects in other ways, nothing is changed.

    Law: once nobody is within, ``gc.get_threshold()`` is what it was before.

    >>> import gc
    >>> before = gc.get_threshold()
    >>> with rare_collections():
    ...     during = gc.get_threshold()
    >>> during[2] >= before[2], gc.get_threshold() == before
    (True, True)
    """

    __slots__ = ()

    def __enter__(self) -> None:
        hold_back()

    def __exit__(self, *error: object) -> None:
        let_go()


class no_collections:
    """While it is entered, Python's garbage collector waits: for what makes much and leaves garbage at its end only.

    Of a process that has turned it off, nothing is changed.

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
