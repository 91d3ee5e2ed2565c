"""The Python functions of a compiled program: their entries for the runtime, and the exceptions that they raise."""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any


class CallbackFailure(Exception):
    """A function that a program called raised ``error``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


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
