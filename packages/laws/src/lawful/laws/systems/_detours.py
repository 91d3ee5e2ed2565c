"""Detours: functions through a solver, a linear call or Python, with unchanged meaning.

The derivatives of a detour come from its rule, not from its implementation, and must agree with those without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lawful import debug, tree
from lawful.control_flow import custom_linear_solve, custom_root
from lawful.core import get_aval, is_inexact, kind
from lawful.custom_rules import closure_convert, custom_jvp, linear_call
from lawful.laws._law.implementation import Function
from lawful.laws.systems._own_rules import with_rules
from lawful.ops import add, convert_element_type, div, mul, real, rev, sin, sub, with_weakness_of
from lawful.staging import ShapeDtypeStruct, pure_callback


def plainly(function: Function, *_: Any) -> Function:
    """Returns the function itself: the detour of systems that have none.

    >>> plainly(abs)(-2)
    2
    """
    return function


def _of_numbers(detour: Callable[[list[Any]], list[Any]]) -> Callable[[Function], Function]:
    """Extends a detour of arrays to functions whose results are partly not floating-point or complex."""

    def through(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any) -> Any:
            leaves, treedef = tree.flatten(function(*args))
            indices = [i for i, leaf in enumerate(leaves) if is_inexact(get_aval(leaf).dtype)]
            found = detour([leaves[i] for i in indices]) if indices else []
            for i, value in zip(indices, found, strict=True):
                leaves[i] = with_weakness_of(value, get_aval(leaves[i]))
            return tree.unflatten(treedef, leaves)

        return called

    through.__name__, through.__doc__ = detour.__name__, detour.__doc__
    return through


class _Mixing:
    """A linear map that is not its own transpose: it reverses arrays and scales by factors from 1 to 3."""

    def __init__(self, factors: Any) -> None:
        self.factors = factors

    @classmethod
    def by(cls, y: Any) -> _Mixing:
        """Returns a map whose factors depend on an array, so that it has a derivative by the array."""
        dtype = get_aval(y).dtype
        return cls(convert_element_type(add(sin(real(y) if kind(dtype) == "c" else y), 2), dtype))

    def __call__(self, v: Any) -> Any:
        return mul(self.factors, _reversed(v))

    def transposed(self, v: Any) -> Any:
        return _reversed(mul(self.factors, v))

    def solve(self, b: Any) -> Any:
        return _reversed(div(b, self.factors))

    def solve_transposed(self, b: Any) -> Any:
        return div(_reversed(b), self.factors)


def _reversed(x: Any) -> Any:
    return rev(x, tuple(range(get_aval(x).ndim)))


def _each(functions: Sequence[Callable[[Any], Any]]) -> Callable[[list[Any]], list[Any]]:
    return lambda values: [function(value) for function, value in zip(functions, values, strict=True)]


@_of_numbers
def with_linear_solve(values: list[Any]) -> list[Any]:
    """Returns a function whose results are the solution of a linear system, that they are a part of.

    >>> from lawful.autodiff import grad
    >>> round(grad(with_linear_solve(lambda x: x * x))(3.0), 6)
    6.0
    """
    maps = [_Mixing.by(value) for value in values]
    found: list[Any] = custom_linear_solve(
        _each(maps),
        _each(maps)(values),
        lambda _, b: _each([each.solve for each in maps])(b),
        lambda _, b: _each([each.solve_transposed for each in maps])(b),
    )
    return found


@_of_numbers
def with_root(values: list[Any]) -> list[Any]:
    """Returns a function whose results are where another function is zero; the guess is twice that.

    >>> from lawful.autodiff import grad
    >>> round(grad(with_root(lambda x: x * x))(3.0), 6)
    6.0
    """
    maps = [_Mixing.by(value) for value in values]

    solved = _each([each.solve for each in maps])

    def mixed(guess: list[Any]) -> list[Any]:
        return _each(maps)([sub(x, value) for x, value in zip(guess, values, strict=True)])

    found: list[Any] = custom_root(
        mixed,
        [mul(value, 2) for value in values],
        lambda f, guess: [sub(x, away) for x, away in zip(guess, solved(f(guess)), strict=True)],
        lambda _, b: solved(b),
    )
    return found


@_of_numbers
def with_linear_call(values: list[Any]) -> list[Any]:
    """Returns a function whose results went through a linear function with a transpose of its own, and back.

    >>> from lawful.autodiff import grad
    >>> round(grad(with_linear_call(lambda x: x * x))(3.0), 6)
    6.0
    """
    maps = [_Mixing.by(value) for value in values]
    mixed = linear_call(
        lambda factors, linear: _each([_Mixing(of) for of in factors])(linear),
        lambda factors, ct: _each([_Mixing(of).transposed for of in factors])(ct),
        [each.factors for each in maps],
        values,
    )
    return _each([each.solve for each in maps])(mixed)


def with_callback(function: Function, vmap_method: str = "sequential") -> Function:
    """Returns a function whose results went through Python; their derivative is a rule.

    >>> from lawful.autodiff import grad
    >>> grad(with_callback(lambda x: x * x))(3.0)
    6.0
    """

    def echo(value: Any) -> Any:
        aval = get_aval(value)
        return pure_callback(np.asarray, ShapeDtypeStruct(aval.shape, aval.dtype), value, vmap_method=vmap_method)

    through = custom_jvp(echo)
    through.defjvp(lambda primals, tangents: (through(*primals), *tangents))
    called: Function = _of_numbers(lambda values: [through(value) for value in values])(function)
    return called


def with_debug(function: Function) -> Function:
    """Returns a function whose results Python sees.

    >>> from lawful.autodiff import grad
    >>> grad(with_debug(lambda x: x * x))(3.0)
    6.0
    """

    @wraps(function)
    def called(*args: Any) -> Any:
        out = function(*args)
        debug.callback(lambda *_: None, out)
        return out

    return called


def with_closure_convert(function: Function) -> Function:
    """Returns a function that is given what it closes over.

    >>> from lawful.autodiff import grad
    >>> grad(lambda y: with_closure_convert(lambda x: x * y)(3.0))(2.0)
    3.0
    """

    @wraps(function)
    def called(*args: Any) -> Any:
        converted, closed_over = closure_convert(function, *args)
        return converted(*args, *closed_over)

    return called


#: The detours by their names in programs.
detours: Final[Mapping[str, Callable[..., Function]]] = MappingProxyType(
    {
        "with_callback": with_callback,
        "with_closure_convert": with_closure_convert,
        "with_debug": with_debug,
        "with_linear_call": with_linear_call,
        "with_linear_solve": with_linear_solve,
        "with_root": with_root,
        "with_rules": with_rules,
    }
)

#: The detours of systems that have none, and the import of each in a program.
plain_detours: Final = dict.fromkeys(detours, plainly)
plain_imports: Final = {name: f"from lawful.laws.systems import plainly as {name}" for name in detours}
