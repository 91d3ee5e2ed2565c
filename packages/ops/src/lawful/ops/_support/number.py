"""Symbolic numbers, with which an accelerator compiles algorithms of special functions to scalar Python code.

It calls an algorithm once with a `Number` for each argument, and generates a Python function from the recorded
operations. An algorithm that iterates, or calls a function of Python floats, calls methods of the number's trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lawful.core import Hook, ShapedArray, Trace, Tracer, register_array_type

_DOUBLE: Final = np.dtype(np.float64)


class NumberTrace(Trace):
    """A trace that records operations on `Number`s."""

    __slots__ = ()

    def call(self, function: Callable[..., Any], *args: Any, dtype: Any = _DOUBLE) -> Any:
        """Records a call of a function of numbers."""
        raise NotImplementedError(f"{type(self).__name__}.call")

    def loop(self, state: Sequence[Any], step: Callable[..., Sequence[Any]]) -> list[Any]:
        """Returns the last state of a loop, ``while state[0]: state = step(*state)``.

        Args:
          state: the initial state.
          step: uses no other `Number`s than its arguments.

        Raises:
          ArgumentValueError: a step changes nothing, so that the loop would not end.
        """
        raise NotImplementedError(f"{type(self).__name__}.loop")


class Number(Tracer):
    """A symbolic float or boolean."""

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
