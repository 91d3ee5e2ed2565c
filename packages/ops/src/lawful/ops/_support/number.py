"""Numbers that are not known yet: what algorithms of special functions are given when they are written as source.

An accelerator calls an algorithm once with a `Number` for each argument, and makes a Python function of what is done
with them. An algorithm that iterates, or calls a function of Python's floats, asks the trace of a `Number`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lawful.core import Hook, ShapedArray, Trace, Tracer, register_array_type

_DOUBLE: Final = np.dtype(np.float64)


class NumberTrace(Trace):
    """A trace of a function of numbers."""

    __slots__ = ()

    def call(self, function: Callable[..., Any], *args: Any, dtype: Any = _DOUBLE) -> Any:
        """Returns what a function of numbers gives."""
        raise NotImplementedError(f"{type(self).__name__}.call")

    def loop(self, state: Sequence[Any], step: Callable[..., Sequence[Any]]) -> list[Any]:
        """Returns the last state of a loop, ``while state[0]: state = step(*state)``.

        Args:
          state: the first one.
          step: it needs no other numbers than it is given, as when a loop is compiled.

        Raises:
          ArgumentValueError: a step changes nothing, so that the loop would not end.
        """
        raise NotImplementedError(f"{type(self).__name__}.loop")


class Number(Tracer):
    """A number or truth value that is not known yet."""

    __slots__ = ("aval", "name")
    source = None

    _trace: NumberTrace

    def __init__(self, trace: NumberTrace, name: str, aval: ShapedArray) -> None:
        self._trace = trace
        self.name = name
        self.aval = aval


register_array_type(Number, aval=attrgetter("aval"))


def _evaluate(algorithm: Callable[..., Any], arrays: Sequence[Any], params: dict[str, Any]) -> Any:
    return algorithm(*arrays, **params)


#: Evaluates an algorithm of special functions: ``use(algorithm, arrays, params)``.
algorithm_hook: Final[Hook[Callable[..., Any]]] = Hook("special functions", _evaluate)
