"""A limit on the number of running programs that call Python, needed for older versions of jaxlib."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lawful.xla_backend._errors import XlaError


class ConcurrencyLimit:
    """Admits programs that call Python, where jaxlib runs a limited number of programs at a time.

    If every running program waited, inside a Python function, for a further program, none would proceed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # One slot is for programs without calls, half of the slots are for programs that functions run.
        self._slots = threading.Semaphore(limit - 1)
        self._outermost = threading.Semaphore(limit // 2)
        self._within = threading.local()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Waits for a slot; a program that a function runs is given one at once.

        Raises:
          XlaError: there is none for it.
        """
        is_nested = getattr(self._within, "is_nested", False)
        if not is_nested:
            self._outermost.acquire()
        try:
            if not self._slots.acquire(blocking=not is_nested):
                raise XlaError(
                    f"callbacks: expected fewer than {self._limit} programs that call Python at a time, got more, of "
                    "which some run in functions of others; nest them less deep, use fewer threads, or install jaxlib "
                    "0.12"
                )
            self._within.is_nested = True
            try:
                yield
            finally:
                self._within.is_nested = is_nested
                self._slots.release()
        finally:
            if not is_nested:
                self._outermost.release()
