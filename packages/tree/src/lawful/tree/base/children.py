"""Functions that run in the child processes of ``multiprocessing``, before these import the program.

A child process that is not forked imports the program again, as ``__mp_main__``. What the parent changed in itself,
such as its import hooks, is not there. The parent sends the child a dict, which the child unpickles first of all: so an
object whose unpickling calls a function makes the change in time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

_functions: Final[list[Callable[[], object]]] = []


class _Call:
    """Calls a function where it is unpickled."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self._function, ()


def run_in_children(function: Callable[[], object]) -> None:
    """Makes child processes that ``multiprocessing`` starts anew call a function before they import the program.

    Args:
      function: of a module; where it calls `run_in_children` itself, so do the children of children.

    >>> import faulthandler
    >>> run_in_children(faulthandler.enable)
    """
    # A lazy import: a program that starts no process needs none of it.
    from multiprocessing import spawn

    if function in _functions:
        return
    _functions.append(function)
    if len(_functions) > 1:
        return
    standard = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = {**standard(name), "lawful": [*map(_Call, _functions)]}
        if sys._getframemodulename(1) == "multiprocessing.forkserver":
            # The server that is forked has not called the functions: its children import the program, after them.
            for key in ("main_path", "init_main_from_path", "init_main_from_name"):
                data.pop(key, None)
        return data

    spawn.get_preparation_data = get_preparation_data
