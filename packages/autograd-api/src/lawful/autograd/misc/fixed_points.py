"""Fixed points, differentiated by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.autograd.core import make_vjp_of_operands
from lawful.autograd.differential_operators import make_vjp
from lawful.autograd.extend import defvjp, primitive, vspace

Function = Callable[..., Any]


@primitive
def fixed_point(f: Callable[[Any], Function], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float) -> Any:
    """Returns ``x = f(a)(x)``, by iteration.

    Args:
      f: ``f(a)`` returns a function that has a fixed point.
      a: a pytree of arrays, which the fixed point is differentiated by.
      x0: the start.
      distance: ``distance(x, y)`` of two iterates; iteration ends if it is at most ``tol``.
      tol: the tolerance.

    >>> import numpy
    >>> from lawful.autograd import grad
    >>> def newton(a):
    ...     return lambda x: 0.5 * (x + a / x)
    >>> def root(a):
    ...     return fixed_point(newton, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> bool(abs(grad(root)(4.0) - 0.25) < 1e-12)
    True
    """
    step = f(a)
    previous, x = x0, step(x0)
    while distance(x, previous) > tol:
        previous, x = x, step(x)
    return x


def _fixed_point_vjp(ans: Any, f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Function:
    # The cotangent w of x solves w = g + w·∂f/∂x, which is a fixed point too; that of a is w·∂f/∂a.
    by_a = make_vjp_of_operands(lambda a: f(a)(ans), a)[0]

    def adjoint(params: Any) -> Function:
        a, x, g = params
        pull, _ = make_vjp(f(a))(x)
        return lambda w: vspace(g).add(pull(w), g)

    return lambda g: by_a(fixed_point(adjoint, (a, ans, g), vspace(g).zeros(), distance, tol))


defvjp(fixed_point, None, _fixed_point_vjp, None)
