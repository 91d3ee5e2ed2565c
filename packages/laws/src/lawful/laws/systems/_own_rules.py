"""Functions with custom rules equal to the derived ones, so that their meaning is unchanged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from lawful import tree
from lawful.autodiff import jvp, stop_gradient, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp, custom_vmap
from lawful.laws._law.implementation import Function
from lawful.ops import full_like, mul


def with_jvp_rule(function: Function) -> Function:
    """Returns a function with a rule for forward mode, which is its derivative.

    >>> from lawful.autodiff import grad
    >>> grad(with_jvp_rule(lambda x: x * x))(3.0)
    6.0
    """
    ruled = custom_jvp(_constant_in_arguments(function))
    # The rule calls the function with rules, so that the jaxpr of a derivative has such calls too.
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), jvp(function, primals, tangents)[1]))
    return ruled


def with_vjp_rule(function: Function) -> Function:
    """Returns a function with a rule for reverse mode, which is its pullback.

    >>> from lawful.autodiff import grad
    >>> grad(with_vjp_rule(lambda x: x * x))(3.0)
    6.0
    """
    ruled = custom_vjp(_constant_in_arguments(function))
    ruled.defvjp(lambda *args: (ruled(*args), args), lambda args, ct: vjp(function, *args)[1](ct))
    return ruled


def _constant_in_arguments(function: Function) -> Function:
    """Returns a function without derivatives by its arguments, so that a derivative by its rule is told from others.

    A closure is returned unchanged: derivatives by its variables are those of the function, and need those by its
    arguments.
    """
    if getattr(function, "__closure__", None) is not None:
        return function
    return lambda *args: function(*tree.map(stop_gradient, args))


def with_vmap_rule(function: Function) -> Function:
    """Returns a function with a rule for batching, which maps it.

    >>> import numpy as np
    >>> vmap(with_vmap_rule(lambda x: x * x))(np.arange(3.0))
    array([0., 1., 4.])
    """
    ruled = custom_vmap(function)

    @ruled.def_vmap
    def mapped(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        return vmap(function, _in_axes(in_batched), axis_size=axis_size)(*args), True

    return ruled


def with_rules(function: Function, given: tuple[str, ...] = ()) -> Function:
    """Returns a function with some rules, each of which is what it would be without it; the others are derived.

    Args:
      function: the function.
      given: which rules: ``"jvp"``, ``"vjp"``, ``"batch"``.

    >>> from lawful.autodiff import grad
    >>> grad(with_rules(lambda x: x * x, ("jvp",)))(3.0)
    6.0
    """
    ruled = custom_rule(function)
    if "jvp" in given:
        ruled.def_jvp(partial(jvp, function))
    if "vjp" in given:
        ruled.def_vjp(lambda *args: (function(*args), args), lambda args, ct: vjp(function, *args)[1](ct))
    if "batch" in given:

        @ruled.def_batch
        def mapped(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
            return vmap(function, _in_axes(in_batched), axis_size=axis_size)(*args), True

    return ruled


def _by_while(step: Function, length: Any, start: Any) -> Any:
    return while_loop(lambda state: state[0] < length, lambda state: (state[0] + 1, step(state[1])), (0, start))[1]


# Repeat a step so many times from a start.
_LOOPS: Final[dict[str, Callable[[Function, Any, Any], Any]]] = {
    "fori_loop": lambda step, length, start: fori_loop(0, length, lambda _, y: step(y), start),
    "scan": lambda step, length, start: scan(lambda y, _: (step(y), None), start, None, length=length)[0],
    "while_loop": _by_while,
    "cond": lambda step, length, start: cond(length > 0, partial(_by_while, step, length), lambda y: y, start),
}


def with_slope_rule(step: Function, loop: str = "fori_loop", length: Any = 2) -> Function:
    """Returns a loop from ones with a rule for forward mode that differentiates it along ones.

    Args:
      step: of the carry and the argument, two arrays of one type; it acts on each element alone.
      loop: ``"fori_loop"``, ``"scan"``, ``"while_loop"`` or ``"cond"``, which has a loop in a branch.
      length: the number of iterations.

    >>> from lawful.autodiff import grad
    >>> grad(with_slope_rule(lambda y, x: y * x, "scan", 3))(2.0)
    12.0
    """

    def looped(x: Any) -> Any:
        return _LOOPS[loop](lambda y: step(y, x), length, full_like(x, 1.0))

    ruled = custom_jvp(looped)

    @ruled.defjvp
    def rule(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        (x,), (x_dot,) = primals, tangents
        out, slope = jvp(looped, (x,), (full_like(x, 1.0),))
        return out, mul(x_dot, slope)

    return ruled


def _in_axes(in_batched: list[Any]) -> tuple[Any, ...]:
    """Returns ``in_axes`` of `vmap` from the marks given to a batching rule."""
    return tuple([tree.map(lambda is_batched: 0 if is_batched else None, marks) for marks in in_batched])
