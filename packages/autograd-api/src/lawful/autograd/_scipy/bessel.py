"""Bessel functions of SciPy's, with derivatives by their last argument.

Source: DLMF 10.6.1 and 10.29.1, the recurrence relations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lawful.numpy as np
from lawful.autograd._primitive.function import primitive
from lawful.autograd._primitive.rules import defjvp, defvjp
from lawful.autograd._scipy.library import scipy_function

Function = Callable[..., Any]


def _scipy(name: str, doc: str, example: str) -> Function:
    """Returns SciPy's function of a name, whose example is a call with the number that it gives."""
    call, value = example.split(" = ")
    text = f"{doc}\n\n>>> from lawful.autograd.scipy.special import {name}\n>>> round(float({call}), 3)\n{value}\n"
    return primitive(scipy_function("special", name, text))


_FIRST = "Returns the Bessel function of the first kind of {}."
_SECOND = "Returns the Bessel function of the second kind of {}."
_MODIFIED = "Returns the modified Bessel function of the {} kind of an order{}."

j0 = _scipy("j0", _FIRST.format("order 0"), "j0(1.0) = 0.765")
j1 = _scipy("j1", _FIRST.format("order 1"), "j1(1.0) = 0.44")
jn, jv = [_scipy("jv", _FIRST.format("an order"), "jv(1, 1.0) = 0.44") for _ in range(2)]
y0 = _scipy("y0", _SECOND.format("order 0"), "y0(1.0) = 0.088")
y1 = _scipy("y1", _SECOND.format("order 1"), "y1(1.0) = -0.781")
yn = _scipy("yn", _SECOND.format("an integer order"), "yn(1, 1.0) = -0.781")
yv = _scipy("yv", _SECOND.format("an order"), "yv(1, 1.0) = -0.781")
iv = _scipy("iv", _MODIFIED.format("first", ""), "iv(1, 1.0) = 0.565")
ive = _scipy("ive", _MODIFIED.format("first", ", multiplied by exp(-|x|)"), "ive(1, 1.0) = 0.208")
kv = _scipy("kv", _MODIFIED.format("second", ""), "kv(1, 1.0) = 0.602")
kve = _scipy("kve", _MODIFIED.format("second", ", multiplied by exp(x)"), "kve(1, 1.0) = 1.636")


def _by_order(function: Function, derivative: Function) -> None:
    """Defines the derivative of a function of an order and a number by the number."""
    defjvp(function, lambda g, ans, n, x: g * derivative(ans, n, x), argnums=(1,))
    defvjp(function, lambda ans, n, x: lambda g: g * derivative(ans, n, x), argnums=(1,))


def _difference(function: Function) -> Function:
    return lambda ans, n, x: (function(n - 1, x) - function(n + 1, x)) / 2


def _mean(function: Function) -> Function:
    return lambda ans, n, x: (function(n - 1, x) + function(n + 1, x)) / 2


for _f in (jn, jv, yn, yv):
    _by_order(_f, _difference(_f))
_by_order(iv, _mean(iv))
_by_order(kv, lambda ans, n, x: -_mean(kv)(ans, n, x))
# These are multiplied by exp(-|x|) and exp(x).
_by_order(ive, lambda ans, n, x: _mean(ive)(ans, n, x) - np.sign(x) * ans)
_by_order(kve, lambda ans, n, x: ans - _mean(kve)(ans, n, x))


def _derivative(function: Function, slope: Function) -> None:
    """Defines both modes of a function of a number, given its slope there."""
    defjvp(function, lambda g, ans, x: g * slope(x))
    defvjp(function, lambda ans, x: lambda g: g * slope(x))


_derivative(j0, lambda x: -j1(x))
_derivative(y0, lambda x: -y1(x))
_derivative(j1, lambda x: (j0(x) - jv(2, x)) / 2)
_derivative(y1, lambda x: (y0(x) - yv(2, x)) / 2)

#: The functions by name.
functions = {
    "j0": j0, "j1": j1, "jn": jn, "jv": jv, "y0": y0, "y1": y1, "yn": yn, "yv": yv,
    "iv": iv, "ive": ive, "kv": kv, "kve": kve,
}  # fmt: skip
