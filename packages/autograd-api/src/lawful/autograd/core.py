"""Derivatives of functions of one argument: what the operators are made of.

>>> vjp, ans = make_vjp(lambda x: x * x, 3.0)
>>> ans, vjp(1.0)
(np.float64(9.0), np.float64(6.0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import autodiff
from lawful.autograd._operators.results import noticed
from lawful.autograd._operators.variables import as_derivative, as_result, as_variable
from lawful.autograd._primitive.deprecated import primitive
from lawful.autograd._tree import ordered
from lawful.autograd.extend import (
    SparseObject,
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    vspace,
)

__all__ = [
    "SparseObject",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "make_jvp",
    "make_vjp",
    "primitive",
    "vspace",
]

Function = Callable[..., Any]


def make_vjp(fun: Function, x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Returns the function that pulls cotangents of ``fun(x)`` back to ``x``, and ``fun(x)``.

    >>> vjp, ans = make_vjp(lambda x: x * x, 3.0)
    >>> ans, vjp(10.0)
    (np.float64(9.0), np.float64(60.0))
    """
    return make_vjp_of_operands(fun, as_variable(x))


def make_vjp_of_operands(fun: Function, x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Returns what `make_vjp` does; leaves of integers are as they are, and have zeros as cotangents."""
    ans, pull = autodiff.vjp(noticed(fun), ordered(x))

    def vjp(g: Any) -> Any:
        return as_result(pull(as_derivative(g, ans))[0])

    return vjp, as_result(ans)


def make_jvp(fun: Function, x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Returns the function from tangents of ``x`` to the pair of ``fun(x)`` and its tangent.

    >>> make_jvp(lambda x: x * x, 3.0)(10.0)
    (np.float64(9.0), np.float64(60.0))
    """
    x = as_variable(x)

    def jvp(g: Any) -> tuple[Any, Any]:
        ans, tangent = autodiff.jvp(noticed(fun), (x,), (as_derivative(g, x),))
        return as_result(ans), as_result(tangent)

    return jvp
