"""Calls of ufuncs and of their methods."""

from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as lnp
from lawful.numpy._ufuncs.methods import WRONG_IN_NUMPY
from lawful.numpy._ufuncs.ufunc import Ufunc

from ._case import Case, Data, case

UFUNCS = {name: value for name in lnp.__all__ if isinstance(value := getattr(lnp, name), Ufunc)}
OF_INTEGERS = frozenset(
    name for name in UFUNCS if any(word in name for word in ("bitwise", "invert", "shift", "gcd", "lcm"))
)


def written(call: Callable[..., Any], *args: Any) -> Case:
    """Returns a call of a method that writes into its argument in NumPy, and so does not accept tracers."""
    return Case(call, args, creates=True)


def _operands(name: str, data: Data) -> list[tuple[Any, ...]]:
    if name in OF_INTEGERS:
        x, y = data.integers, data.bytes % 6
    elif name in ("arccosh", "acosh"):
        x = y = data.matrix + 1
    else:
        x, y = data.matrix / 2.5, data.vector / 2.5
    if name == "ldexp":
        return [(x, data.integers)]
    return [(x,)] if UFUNCS[name].nin == 1 else [(x, y), (x, y[0] if y is not x else 2.0)]


def _reductions(data: Data) -> list[Case]:
    calls = []
    for name in ("add", "multiply", "maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp", "logaddexp2"):
        for kwargs in ({}, {"axis": 1}, {"axis": None}, {"axis": (0, 1), "keepdims": True}, {"initial": 1.5}):
            calls.append(
                case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name).reduce(x, **kwargs), data.matrix)
            )
    for name in ("subtract", "divide", "power", "float_power"):
        for axis in (0, 1) if name not in WRONG_IN_NUMPY else (0,):
            calls.append(case(lambda np, x, name=name, axis=axis: getattr(np, name).reduce(x, axis=axis), data.matrix))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "logical_and", "logical_or", "logical_xor"):
        for kwargs in ({}, {"axis": 1, "keepdims": True}):
            calls.append(
                case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name).reduce(x, **kwargs), data.integers)
            )
    return [
        *calls,
        case(lambda np, x: np.add.reduce(x), data.bytes),
        case(lambda np, x: np.multiply.reduce(x, axis=1, dtype="float32"), data.bytes),
        case(lambda np, x, m: np.add.reduce(x, axis=1, where=m), data.matrix, data.mask),
        case(lambda np, x, m: np.maximum.reduce(x, where=m, initial=-1.0), data.matrix, data.mask),
        case(lambda np, x: np.add.reduce(x), data.empty),
    ]


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "ufuncs": [
            case(lambda np, *args, name=name: getattr(np, name)(*args), *args)
            for name in UFUNCS
            for args in _operands(name, data)
        ],
        "reductions by ufuncs": _reductions(data),
        "cumulative ufuncs": [
            case(lambda np, x, name=name, axis=axis: getattr(np, name).accumulate(x, axis=axis), x)
            for name, x in (
                *[(name, data.matrix) for name in ("add", "multiply", "maximum", "minimum", "subtract", "hypot")],
                *[(name, data.integers) for name in ("add", "bitwise_xor", "gcd", "logical_or", "fmax")],
            )
            for axis in (0, 1)
        ],
        "reductions of slices": [
            case(lambda np, x, name=name: getattr(np, name).reduceat(x, [0, 2, 1], axis=1), data.matrix)
            for name in ("add", "multiply", "maximum", "subtract", "logaddexp")
        ],
        "outer": [
            case(lambda np, x, y, name=name: getattr(np, name).outer(x, y), data.matrix, data.vector)
            for name in ("add", "subtract", "arctan2", "power", "less")
        ],
        "at positions": [
            *[
                written(
                    lambda np, x, v, name=name: _at(np, name, x, numpy.array([0, 2, 0]), v), data.matrix, data.vector
                )
                for name in ("add", "subtract", "multiply", "maximum", "minimum", "divide", "hypot")
            ],
            written(lambda np, x: _at(np, "negative", x, numpy.array([1, 1, 2])), data.matrix),
        ],
    }


def _at(np: Any, name: str, x: Any, *args: Any) -> Any:
    """Returns an array updated by ``np.<name>.at``; NumPy's writes into it."""
    if np is not numpy:
        return getattr(np, name).at(x, *args, inplace=False)
    written = numpy.array(x)
    getattr(np, name).at(written, *args)
    return written
