"""The reference results of calls: those of array-api-strict, or NumPy's where the standard does not define the call."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

import array_api_strict as strict
import numpy as np

from .calls import Call

VERSION = "2024.12"


def reference(name: str, call: Call) -> Any:
    """Returns the result of a function of the standard, with NumPy arrays and dtypes for the reference's own."""
    return answer(strict, name, call, _to_strict, _to_numpy)


def answer(namespace: Any, name: str, call: Call, convert: Callable[[Any], Any], back: Callable[[Any], Any]) -> Any:
    """Returns the result of a function of a namespace for converted arguments, converted back."""
    function = find(namespace, name)
    args = over(convert, list(call.args))
    kwargs = over(convert, call.kwargs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # for values outside of a function's domain
        with strict.ArrayAPIStrictFlags(api_version=VERSION):
            result = function(*args, **kwargs)
            return over(back, result)


def find(namespace: Any, name: str) -> Callable[..., Any]:
    """Finds a function by name: ``sum``, ``linalg.qr``; ``operator.add``; ``array.T`` for an attribute of arrays."""
    first, _, rest = name.partition(".")
    if first == "array":
        return attrgetter(rest)
    if first == "operator":
        return cast(Callable[..., Any], getattr(operator, rest))
    return cast(Callable[..., Any], attrgetter(name)(namespace))


def over(function: Callable[[Any], Any], x: Any) -> Any:
    """Maps a function over the items of lists, tuples and dictionaries."""
    if isinstance(x, dict):
        return {key: over(function, value) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[over(function, value) for value in x])
    if isinstance(x, list | tuple):
        return type(x)(over(function, value) for value in x)
    return function(x)


def _to_strict(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return strict.asarray(x.copy(), dtype=getattr(strict, x.dtype.name))
    return getattr(strict, x.name) if isinstance(x, np.dtype) else x


def _to_numpy(x: Any) -> Any:
    if isinstance(x, type(strict.float32)):
        return np.dtype(str(x).rpartition(".")[2])
    return np.asarray(x) if isinstance(x, type(strict.ones(()))) else x
