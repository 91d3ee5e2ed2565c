"""Solutions of ordinary differential equations, differentiated by the adjoint equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lawful.numpy as np
from lawful.autograd._primitive.function import primitive
from lawful.autograd._primitive.rules import defvjp_argnums
from lawful.autograd._scipy.library import scipy_function
from lawful.autograd.differential_operators import make_vjp
from lawful.autograd.misc.flatten import flatten

Function = Callable[..., Any]

#: ``scipy.integrate.odeint``, with derivatives by ``y0``, ``t`` and ``args``.
odeint = primitive(scipy_function("integrate", "odeint"))


def _odeint_vjp(argnums: Sequence[int], ys: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Function:
    """Returns the pullback of ``odeint(func, y0, t, args)``.

    The cotangent a of y obeys ``a' = -a·∂f/∂y`` backwards in time, and jumps by that of an output where there is one.
    The cotangent of the arguments is the integral of ``a·∂f/∂args``, that of a time is ``a·f`` there.
    Source: Fröhlich, Loos and Hasenauer, arXiv:1711.08079.
    """
    func, _, t, func_args = (*args, ())[:4]
    flat_args, unflatten = flatten(tuple(func_args))
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
            state = odeint(backward, state, times, (flat_args,), **kwargs)[-1]
            a, by_args = state[size : 2 * size], state[2 * size :]
            by_start = -np.dot(flat_func(ys[i - 1], flat_args, t[i - 1]), a)
            a = a + g[i - 1]
        found = {1: a, 2: np.stack([*by_times, by_start][::-1]), 3: unflatten(by_args)}
        return [found.get(argnum) for argnum in argnums]

    return pull_back


defvjp_argnums(odeint, _odeint_vjp)
