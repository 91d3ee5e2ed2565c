"""The Python functions of a compiled program: their entries for the runtime, and the exceptions that they raise."""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast


class CallbackFailure(Exception):
    """A function that a program called raised ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class _Within(threading.local):
    """Whether this thread is in a function that a program on several devices called."""

    partitions = False


within: Final = _Within()


class HostFunctions:
    """The functions that a program calls, and the exceptions that they raised."""

    __slots__ = ("__weakref__", "_functions", "_numbers", "_raised")

    _text = "raised by a function of lawful, number "

    def __init__(self, functions: Sequence[Callable[..., tuple[Any, ...]]]) -> None:
        self._functions = functions
        self._numbers = itertools.count()
        self._raised: dict[int, BaseException] = {}

    def entries(self) -> list[Callable[..., tuple[Any, ...]]]:
        """Returns the callables to compile the program with; they do not keep the functions alive.

        jaxlib frees these callables some time after the program itself.
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
        # The runtime converts an exception to text. The number in it identifies the exception.
        raise RuntimeError(f"{self._text}{number}.")

    def raised(self, error: Exception) -> BaseException | None:
        """Returns the exception of a function, if that is why the runtime raised ``error``."""
        found = re.search(rf"{self._text}(\d+)\.", str(error))
        return None if found is None else self._raised.pop(int(found[1]), None)


class PartitionedFunctions(HostFunctions):
    """The functions that a program on several devices calls.

    If one of them raised, its device would not take part in the collectives that the others wait in, and the runtime
    would end the process. So the program goes on with zeros, calls no function any more, and its run raises at the end.
    """

    __slots__ = ("_failure", "_lock", "_running")

    def __init__(self, functions: Sequence[Any]) -> None:
        super().__init__(functions)
        self._failure: BaseException | None = None
        self._running = 0
        self._lock = threading.Lock()

    def _call(self, index: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
        function: Any = self._functions[index]
        if self._failure is None:
            outside, within.partitions = within.partitions, True
            try:
                return cast("tuple[Any, ...]", function(*args))
            except BaseException as error:
                self._failure = error
            finally:
                within.partitions = outside
        return cast("tuple[Any, ...]", function.zeros(*args))

    @contextmanager
    def run(self) -> Iterator[None]:
        """Runs the program within ``with``.

        Raises:
          CallbackFailure: a function raised, in this run or in one at the same time.
        """
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                failure = self._failure
                if not self._running:
                    self._failure = None
        if failure is not None:
            raise CallbackFailure(failure)
