"""Operators, methods and properties of arrays, which eagerly are those of NumPy's own arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

X = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]])
#: As a second operand: no zeros, and so no quotients by zero, which depend on the processor.
Y = np.array([[2.0, 3.0, 4.0], [2.0, 2.0, 3.0]])

#: Functions of an array by name.
UNARY: dict[str, Callable[[Any], Any]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
    "abs": abs,
    "round": lambda x: x.round(),
    "round to decimals": lambda x: x.round(1),
    "round to tens": lambda x: x.round(-1),
    "round of a scalar": lambda x: x[0, 0].round(),
    "** 2 of a scalar": lambda x: x[0, 0] ** 2,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "imag of a scalar": lambda x: x[0, 0].imag,
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "clip": lambda x: x.clip(0, 1),
    "clip by min": lambda x: x.clip(True),
    "clip by max": lambda x: x.clip(max=1.5),
    "clip by itself": lambda x: x.clip(x, x),
    "sum": lambda x: x.sum(1),
    "prod": lambda x: x.prod(0),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(0, ddof=1),
    "max": lambda x: x.max(0),
    "min": lambda x: x.min(),
    "all": lambda x: x.all(1),
    "any": lambda x: x.any(),
    "argmax": lambda x: x.argmax(0),
    "argmin": lambda x: x.argmin(1),
    "argsort": lambda x: x.argsort(0, kind="stable"),
    "cumsum": lambda x: x.cumsum(1),
    "cumsum of bool": lambda x: x.cumsum(1, bool),
    "cumsum of int8": lambda x: x.cumsum(0, np.int8),
    "cumprod": lambda x: x.cumprod(),
    "cumprod of bool": lambda x: x.cumprod(0, bool),
    "sum of bool": lambda x: x.sum(1, bool),
    "prod of bool": lambda x: x.prod(1, bool),
    "mean of bool": lambda x: x.mean(1, bool),
    "trace": lambda x: x.trace(),
    "diagonal": lambda x: x.diagonal(1),
    "repeat": lambda x: x.repeat(2, 1),
    "byteswap": lambda x: x.byteswap(),
    "dot": lambda x: x.dot(x.T),
    "dot of a number": lambda x: x.dot(2),
    "@": lambda x: x @ x.T,
    "numpy.diff": np.diff,
    "numpy.ediff1d": np.ediff1d,
    "numpy.gradient": lambda x: np.gradient(x, axis=1),
    "numpy.round": lambda x: np.round(x, 1),
    **{f"** {y!r}": lambda x, y=y: x**y for y in (0, 1, 2, 3, -1, -2, True, 2.0, 0.5, 1j, np.int8(2))},
    **{f"{y!r} **": lambda x, y=y: y ** abs(x) for y in (True, 2, 1.5)},
}
#: The operators of two arrays, or of an array and a number.
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    function.__name__: function
    for function in (
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.floordiv,
        operator.mod,
        divmod,
        operator.pow,
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
        operator.eq,
        operator.lt,
        operator.ge,
    )
}
#: The functions above, and others, of Python's numbers, which give Python's numbers.
OF_NUMBERS: dict[str, Callable[[Any], Any]] = {
    **{name: UNARY[name] for name in ("+", "-", "abs", "real", "imag", "conjugate", "** 0", "** 2", "** -1", "** 0.5")},
    "round()": round,
    "round() to decimals": lambda x: round(x, 1),
}
