"""Functions that carry as rules of their own what would be derived of them: as such they mean the same."""

from __future__ import annotations

from typing import Any

from lawful import tree
from lawful.autodiff import custom_jvp, custom_vjp, jvp, vjp
from lawful.batching import custom_vmap, vmap
from lawful.laws._implementation import Function


def with_jvp_rule(function: Function) -> Function:
    """Returns a function with a rule for forward mode, which is its derivative.

    >>> from lawful.autodiff import grad
    >>> grad(with_jvp_rule(lambda x: x * x))(3.0)
    6.0
    """
    ruled = custom_jvp(function)
    ruled.defjvp(lambda primals, tangents: jvp(function, primals, tangents))
    return ruled


def with_vjp_rule(function: Function) -> Function:
    """Returns a function with a rule for reverse mode, which is its pullback.

    >>> from lawful.autodiff import grad
    >>> grad(with_vjp_rule(lambda x: x * x))(3.0)
    6.0
    """
    ruled = custom_vjp(function)
    ruled.defvjp(lambda *args: (function(*args), args), lambda args, ct: vjp(function, *args)[1](ct))
    return ruled


def with_vmap_rule(function: Function) -> Function:
    """Returns a function with a rule for batching, which maps it.

    >>> import numpy as np
    >>> vmap(with_vmap_rule(lambda x: x * x))(np.arange(3.0))
    array([0., 1., 4.])
    """
    ruled = custom_vmap(function)

    @ruled.def_vmap
    def mapped(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        in_axes = tuple([tree.map(lambda is_batched: 0 if is_batched else None, marks) for marks in in_batched])
        return vmap(function, in_axes, axis_size=axis_size)(*args), True

    return ruled
