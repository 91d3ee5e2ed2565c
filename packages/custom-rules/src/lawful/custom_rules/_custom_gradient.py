"""``custom_gradient``: a function that returns its value and the function of its cotangent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.core import Zero, get_aval, instantiate_zeros
from lawful.custom_rules._closure_convert import closure_convert
from lawful.custom_rules._custom_vjp import custom_vjp


def custom_gradient[**P, R](fun: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """Returns a function with its own cotangents: ``fun`` returns a value and the function of its cotangent.

    Args:
      fun: returns ``(value, vjp)``, where ``vjp(ct)`` gives the cotangent of each argument: a tuple, or that of the
        only one.

    >>> from lawful.autodiff import grad
    >>> from lawful.custom_rules import custom_gradient
    >>> clipped = custom_gradient(lambda x: (x * x, lambda ct: ct * min(2.0 * x, 1.0)))
    >>> grad(clipped)(3.0), grad(clipped)(0.25)
    (1.0, 0.5)

    Source: ``jax.custom_gradient``.
    """

    @custom_vjp
    def value(*args: Any, **kwargs: Any) -> Any:
        return fun(*args, **kwargs)[0]

    def forward(*args: Any, **kwargs: Any) -> Any:
        out, rule = fun(*args, **kwargs)
        converted, consts = closure_convert(rule, out)
        return out, (_Rule(converted), consts)

    def backward(residuals: Any, cotangent: Any) -> Any:
        rule, consts = residuals
        found = rule.function(cotangent, *consts)
        return found if isinstance(found, tuple) else (found,)

    value.defvjp(forward, backward)
    functools.update_wrapper(value, fun)
    return value


@tree.register_static
class _Rule:
    """A function among residuals."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Returns the zero tangent of a pytree of values, symbolic by request.

    >>> zero_from_primal(2.0), zero_from_primal(2.0, symbolic_zeros=True)
    (array(0.), Zero(~f64[]))

    Source: ``jax.custom_derivatives.zero_from_primal``.
    """

    def zero(x: Any) -> Any:
        found = Zero(get_aval(x).to_tangent_aval())
        return found if symbolic_zeros else instantiate_zeros(found)

    return tree.map(zero, val)
