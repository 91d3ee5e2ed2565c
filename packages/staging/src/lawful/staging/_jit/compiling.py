"""A context around each compilation: it measures the time, and shows a line on standard error if that is long."""

from __future__ import annotations

import sys
import threading
from time import perf_counter
from typing import Any, Final

from lawful.staging._jit.cache_misses import note_compilation

#: After how many seconds a compilation shows a line.
SHOWN_AFTER: Final = 2.0


class compiling:
    """Compiles a program, within a ``with`` block.

    If it takes longer than two seconds, a line on standard error says so. On a terminal where rich is installed, it has
    the time that has passed, and vanishes. Nothing is written to a file or a pipe.

    Args:
      name: of the function.
      reasons: why the program is compiled again, if it is.

    >>> with compiling("f"):
    ...     program = compile("x * x", "f", "eval")
    """

    __slots__ = ("_line", "_name", "_reasons", "_start")

    def __init__(self, name: str, *reasons: str) -> None:
        self._name = name
        self._reasons = reasons

    def __enter__(self) -> None:
        self._line = _Line(self._name) if _is_terminal() or _is_notebook() else None
        self._start = perf_counter()

    def __exit__(self, kind: object, *error: object) -> None:
        if self._line is not None:
            self._line.end()
        if kind is None:
            note_compilation(self._name, self._reasons, perf_counter() - self._start)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _is_notebook() -> bool:
    """Whether standard error is that of a Jupyter kernel, which is shown under the cell."""
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _has_rich() -> bool:
    try:
        import rich.console  # noqa: F401
    except ImportError:
        return False
    return True


class _Line:
    """A line that a thread shows if it is not ended in time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._display: Any = None
        self._ended = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(SHOWN_AFTER, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if self._ended:
                return
            if not _is_terminal() or not _has_rich():
                sys.stderr.write(f"compiling {self._name} …\n")
                return
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = SpinnerColumn(), TextColumn("compiling {task.description}", markup=False), TimeElapsedColumn()
            # It vanishes when it ends, and leaves what the program prints to standard output alone.
            display = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            display.add_task(self._name, total=None)
            display.tasks[0].start_time = display.get_time() - SHOWN_AFTER  # when the compilation began
            display.start()
            self._display = display

    def end(self) -> None:
        """Ends the line, also while it is about to be shown."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._display is not None:
                self._display.stop()
