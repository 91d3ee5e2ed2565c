"""The Python functions of a compiled program: how the runtime gets at them, and how what they raise comes out of it."""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lawful.xla_backend._errors import XlaError


class CallbackFailure(Exception):
    """A function that a program called raised ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class HostFunctions:
    """The functions that a program calls, and what they raised."""

    __slots__ = ("__weakref__", "_functions", "_numbers", "_raised")

    _text = "raised by a function of lawful, number "

    def __init__(self, functions: Sequence[Callable[..., tuple[Any, ...]]]) -> None:
        self._functions = functions
        self._numbers = itertools.count()
        self._raised: dict[int, BaseException] = {}

    def entries(self) -> list[Callable[..., tuple[Any, ...]]]:
        """Returns what the program is compiled with: it does not keep the functions alive.

        jaxlib lets go of what a program was compiled with some time after the program itself.
        """
        reference = weakref.ref(self)

        def entry(index: int) -> Callable[..., tuple[Any, ...]]:
            def call(*args: Any) -> tuple[Any, ...]:
                functions = reference()
                assert functions is not None, "a program that runs is alive"
                return functions._call(index, args)

            return call

        return [entry(index) for index in range(len(self._functions))]

    def _call(self, index: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            return self._functions[index](*args)
        except BaseException as error:
            number = next(self._numbers)
            self._raised[number] = error
        # The runtime turns an exception into text, by which it is found again.
        raise RuntimeError(f"{self._text}{number}.")

    def raised(self, error: Exception) -> BaseException | None:
        """Returns what a function raised, if that is why the runtime raised ``error``."""
        found = re.search(rf"{self._text}(\d+)\.", str(error))
        return None if found is None else self._raised.pop(int(found[1]), None)


class Turns:
    """Who may run a program that calls Python, where jaxlib runs a limited number of programs at a time.

    Were all that run in functions that wait for further ones, all would wait for ever.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # One place is left for programs that call nothing, and half of them for programs that functions run.
        self._places = threading.Semaphore(most - 1)
        self._outermost = threading.Semaphore(most // 2)
        self._within = threading.local()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Waits for a place; a program that a function runs is given one at once.

        Raises:
          XlaError: there is none for it.
        """
        is_nested = getattr(self._within, "is_nested", False)
        if not is_nested:
            self._outermost.acquire()
        try:
            if not self._places.acquire(blocking=not is_nested):
                raise XlaError(
                    f"callbacks: expected fewer than {self._most} programs that call Python at a time, got more, of "
                    "which some run in functions of others; nest them less deep, use fewer threads, or install jaxlib "
                    "0.12"
                )
            self._within.is_nested = True
            try:
                yield
            finally:
                self._within.is_nested = is_nested
                self._places.release()
        finally:
            if not is_nested:
                self._outermost.release()
