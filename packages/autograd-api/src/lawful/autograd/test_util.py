"""Checks of derivatives against differences, in both modes and to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from lawful.autograd.core import make_jvp, make_vjp, vspace
from lawful.autograd.wrap_util import Argnum, get_name, unary_to_nary

Function = Callable[..., Any]

TOL = 1e-6
RTOL = 1e-6
EPS = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers are equal up to the tolerances.

    >>> scalar_close(1.0, 1.0 + 1e-9), scalar_close(1.0, 1.1)
    (True, False)
    """
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Function, x: Any) -> Function:
    """Returns the function from tangents of ``x`` to central differences of ``f``.

    >>> round(float(make_numerical_jvp(lambda x: x * x, 3.0)(1.0)), 6)
    6.0
    """
    inputs, outputs = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        above = f(inputs.add(x, inputs.scalar_mul(v, EPS / 2)))
        below = f(inputs.add(x, inputs.scalar_mul(v, -EPS / 2)))
        return outputs.scalar_mul(outputs.add(above, outputs.scalar_mul(below, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Function, x: Any) -> None:
    """Raises AssertionError if reverse mode of a function differs from differences, along a random direction.

    >>> check_vjp(lambda x: x * x, 3.0)
    """
    vjp, y = make_vjp(f, x)
    inputs, outputs = vspace(x), vspace(y)
    x_dot, y_bar = inputs.randn(), outputs.randn()
    x_bar = inputs.covector(vjp(outputs.covector(y_bar)))
    if vspace(x_bar) != inputs:
        raise _failed("VJP", f, f"expected a cotangent of {inputs}, got one of {vspace(x_bar)}")
    found = inputs.inner_prod(x_dot, x_bar)
    expected = outputs.inner_prod(y_bar, make_numerical_jvp(f, x)(x_dot))
    if not scalar_close(expected, found):
        raise _failed("VJP", f, f"expected {expected} by differences at {x}, got {found}")


def check_jvp(f: Function, x: Any) -> None:
    """Raises AssertionError if forward mode of a function differs from differences, along a random direction.

    >>> check_jvp(lambda x: x * x, 3.0)
    """
    x_dot = vspace(x).randn()
    found, expected = make_jvp(f, x)(x_dot)[1], make_numerical_jvp(f, x)(x_dot)
    if not _are_equivalent(found, expected):
        raise _failed("JVP", f, f"expected {expected} by differences at {x}, got {found}")


def check_equivalent(x: Any, y: Any) -> None:
    """Raises AssertionError if two vectors are of other spaces, or their products with a random one differ.

    >>> check_equivalent(1.0, 1.0 + 1e-9)
    """
    if not _are_equivalent(x, y):
        raise AssertionError(f"check_equivalent: expected equal vectors, got {x} and {y}")


def _are_equivalent(x: Any, y: Any) -> bool:
    space = vspace(x)
    v = space.randn()
    return space == vspace(y) and scalar_close(space.inner_prod(x, v), space.inner_prod(y, v))


def _failed(mode: str, f: Function, message: str) -> AssertionError:
    return AssertionError(f"Derivative ({mode}) check of {get_name(f)} failed: {message}")


@unary_to_nary
def check_grads(f: Function, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Raises AssertionError if derivatives of a function differ from differences.

    Args:
      f: a function of arrays or pytrees of them.
      x: the argument to differentiate by.
      modes: "fwd", "rev", or both.
      order: the highest order of derivatives.

    ``check_grads(f, argnum, modes, order)`` returns the function of the arguments that checks.

    >>> from lawful.autograd import numpy as np
    >>> check_grads(np.sin)(1.0)
    """
    if modes is None:
        modes = ("fwd", "rev")
    if not {*modes} <= {"fwd", "rev"}:
        raise ValueError(f"check_grads: expected modes 'fwd' and 'rev', got {modes!r}; leave the others out")
    if "fwd" in modes:
        check_jvp(f, x)
        if order > 1:
            _check_derivative(f"jvp_{get_name(f)}", lambda x, v: make_jvp(f, x)(v)[1], x, vspace(x), modes, order - 1)
    if "rev" in modes:
        check_vjp(f, x)
        if order > 1:
            pull = lambda x, v: make_vjp(f, x)[0](v)  # noqa: E731  # as above
            _check_derivative(f"vjp_{get_name(f)}", pull, x, vspace(f(x)), modes, order - 1)


def _check_derivative(name: str, derivative: Function, x: Any, space: Any, modes: Sequence[str], order: int) -> None:
    derivative.__name__ = name
    check_grads(derivative, (0, 1), modes, order=order)(x, space.randn())


def combo_check(fun: Function, argnum: Argnum = 0, *args: Any, **kwargs: Any) -> Function:
    """Returns a function of lists of arguments that checks a function with each combination of them.

    Args:
      fun: the function.
      argnum: the arguments to differentiate by.
      args: other arguments of `check_grads`.
      kwargs: those by name.

    >>> from lawful.autograd import numpy as np
    >>> combo_check(np.power, (0, 1))([1.0, 2.0], [3.0, 4.0])
    """

    def check(*choices: Any, **named: Any) -> None:
        for given in product(*choices):
            for values in product(*named.values()):
                check_grads(fun, argnum, *args, **kwargs)(*given, **dict(zip(named, values, strict=True)))

    return check
