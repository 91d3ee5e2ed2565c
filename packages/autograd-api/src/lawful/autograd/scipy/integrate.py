"""Solutions of ordinary differential equations, differentiated by the adjoint equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import lawful.numpy as np
from lawful.autograd._primitive.function import primitive
from lawful.autograd._primitive.rules import defvjp_argnums
from lawful.autograd._scipy.library import scipy_function
from lawful.autograd.differential_operators import make_vjp
from lawful.autograd.misc.flatten import flatten
from lawful.core import ArgumentTypeError, shorten

Function = Callable[..., Any]

_solved = primitive(scipy_function("integrate", "odeint"))
#: Options that are about one equation, and not about that of the cotangents.
_OF_THE_EQUATION: Final = frozenset({"Dfun", "col_deriv", "ml", "mu", "tcrit"})


def odeint(
    func: Function, y0: Any, t: Any, args: tuple[Any, ...] = (), *options: Any, tfirst: bool = False, **keywords: Any
) -> Any:
    """Returns ``scipy.integrate.odeint``, with derivatives by ``y0``, ``t`` and ``args``.

    Args:
      func: gives the derivative of ``y``: ``func(y, t, *args)``.
      y0: the solution at the first time, of shape (n,).
      t: the times.
      args: a tuple of more arguments of ``func``.
      options: SciPy's further options, by position.
      tfirst: whether the function is called as ``func(t, y, *args)``.
      keywords: SciPy's further options, by name.

    Raises:
      ArgumentTypeError: ``args`` is no tuple.

    >>> from lawful.autograd import grad
    >>> end = lambda a: odeint(lambda y, t, a: -a * y, [1.0], [0.0, 1.0], args=(a,))[-1, 0]
    >>> bool(np.isclose(grad(end)(2.0), -np.exp(-2.0)))
    True

    Source: ``autograd.scipy.integrate.odeint``.
    """
    if not isinstance(args, tuple):
        raise ArgumentTypeError(
            f"odeint: expected a tuple of arguments of func as args, got {shorten(args)}; write args=(a,) for one"
        )
    if tfirst:
        func = _swapped(func)
        if keywords.get("Dfun") is not None:
            keywords["Dfun"] = _swapped(keywords["Dfun"])
    return _solved(func, y0, t, args, *options, **keywords)


def _swapped(function: Function) -> Function:
    return lambda y, t, *args: function(t, y, *args)


def _odeint_vjp(argnums: Sequence[int], ys: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Function:
    """Returns the pullback of ``odeint(func, y0, t, args)``.

    The cotangent a of y obeys ``a' = -a·∂f/∂y`` backwards in time, and jumps by that of an output where there is one.
    The cotangent of the arguments is the integral of ``a·∂f/∂args``, that of a time is ``a·f`` there.
    Source: Fröhlich, Loos and Hasenauer, arXiv:1711.08079.
    """
    func, _, t, func_args = args[:4]
    flat_args, unflatten = flatten(tuple(func_args))
    options = {name: x for name, x in kwargs.items() if name not in _OF_THE_EQUATION}
    size = np.shape(ys)[1]

    def flat_func(y: Any, flat: Any, t: Any) -> Any:
        return func(y, t, *unflatten(flat))

    def backward(state: Any, time: Any, flat: Any) -> Any:
        # Time runs from -t[i] to -t[i - 1]: odeint takes increasing times too.
        y, a = state[:size], state[size : 2 * size]
        pull, slope = make_vjp(flat_func, (0, 1))(y, flat, -time)
        by_y, by_args = pull(a)
        return np.concatenate([-np.ravel(slope), np.ravel(by_y), np.ravel(by_args)])

    def pull_back(g: Any) -> list[Any]:
        a, by_args = g[-1], np.zeros(np.shape(flat_args))
        by_times, by_start = [], 0.0
        for i in range(len(t) - 1, 0, -1):
            by_times.append(np.dot(flat_func(ys[i], flat_args, t[i]), g[i]))
            state = np.concatenate([ys[i], a, by_args])
            times = np.stack([-t[i], -t[i - 1]])
            state = odeint(backward, state, times, (flat_args,), **options)[-1]
            a, by_args = state[size : 2 * size], state[2 * size :]
            by_start = -np.dot(flat_func(ys[i - 1], flat_args, t[i - 1]), a)
            a = a + g[i - 1]
        found = {1: a, 2: np.stack([*by_times, by_start][::-1]), 3: unflatten(by_args)}
        return [found.get(argnum) for argnum in argnums]

    return pull_back


defvjp_argnums(_solved, _odeint_vjp)
