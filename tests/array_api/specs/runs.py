"""Evaluation of a call by lawful: on NumPy arrays, on device arrays, and on tracers, compiled by either backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import lawful.numpy as lnp
from lawful.core import is_array, python_scalar_types
from lawful.staging import jit
from lawful.xla_backend import device_put

from .calls import Call
from .reference import answer, over

#: A function's name, its arguments, and the positions of arguments whose values decide shapes, and stay known.
Named = tuple[str, Call, frozenset[int]]


def eagerly(name: str, call: Call) -> Any:
    """Returns the result on NumPy arrays."""
    return answer(lnp, name, call, _copied, lambda x: x)


def on_device(name: str, call: Call) -> Any:
    """Returns the result on arrays of the XLA backend, as NumPy arrays."""
    return answer(lnp, name, call, lambda x: device_put(x) if isinstance(x, np.ndarray) else x, _values)


def staged(calls: Sequence[Named], backend: str) -> list[Any]:
    """Returns the results of several calls as one program of a backend, with the arrays as arguments."""
    results: list[Any] = []

    def program(arrays: Sequence[Any]) -> list[Any]:
        remaining = iter(arrays)
        results.clear()
        for name, call, known in calls:
            filled = _replaced(call, known, lambda x: next(remaining))
            results.append(answer(lnp, name, filled, lambda x: x, lambda x: x))
        computed: list[Any] = []
        over(lambda x: computed.append(x) if _is_output(x) else None, results)
        return computed

    arrays: list[Any] = []
    for _, call, known in calls:
        _replaced(call, known, lambda x: arrays.append(x.copy()))
    computed = iter(jit(program, backend=backend)(arrays))
    return [over(lambda x: np.asarray(next(computed)) if _is_output(x) else x, result) for result in results]


def _replaced(call: Call, known: frozenset[int], replace: Callable[[Any], Any]) -> Call:
    """Returns a call in which each array that is not known is replaced, in order."""

    def array(x: Any) -> Any:
        return replace(x) if isinstance(x, np.ndarray) else x

    args = [x if i in known else over(array, x) for i, x in enumerate(call.args)]
    return Call(tuple(args), over(array, call.kwargs))


def _is_output(x: Any) -> bool:
    return is_array(x) and type(x) not in python_scalar_types


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _values(x: Any) -> Any:
    return np.asarray(x) if _is_output(x) else x
