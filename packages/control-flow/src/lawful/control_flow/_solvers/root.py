"""``custom_root``: a root of a function with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.autodiff import linearize
from lawful.control_flow._solvers.jaxprs import trace_solver, vector_of
from lawful.control_flow._solvers.root_primitive import root_p
from lawful.staging import copy_aliased, require_callable

_NAME = "custom_root"


def custom_root[R](
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], R],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> R:
    """Returns a root of a function, with derivatives by the implicit function theorem.

    The solver is not differentiated: it may iterate, by ``while_loop``, and its steps are not stored. The derivative is
    with respect to the closed-over values of ``f``; that with respect to the guess is zero.

    Args:
      f: a function of a pytree of floating or complex arrays, which gives such a tree. It may close over arrays and
        tracers.
      initial_guess: where the solver starts.
      solve: ``solve(f, initial_guess)`` gives ``x`` with ``f(x) = 0``, which is not checked. It is traced.
      tangent_solve: ``tangent_solve(g, y)`` gives ``x`` with ``g(x) = y``, for the linear function ``g`` that is the
        derivative of ``f`` at the root: ``lambda g, y: y / g(1.0)`` for scalars. In reverse mode it is transposed: one
        that iterates calls ``custom_linear_solve``.
      has_aux: whether ``solve`` returns ``(x, aux)``; ``aux`` has derivative zero.

    Returns:
      ``solve(f, initial_guess)``.

    Raises:
      ArgumentTypeError: one of the functions gives another structure, shape or dtype than that of the guess, or the
        guess has integers.

    Law: at an exact root x, ∂f/∂x ẋ = −∂f/∂p ṗ. Source: ``jax.lax.custom_root``.

    >>> from lawful.autodiff import grad
    >>> from lawful.control_flow import while_loop
    >>> def newton(f, x):
    ...     return while_loop(lambda x: abs(f(x)) > 1e-12, lambda x: x - f(x) / grad(f)(x), x)
    >>> def square_root(a):
    ...     return custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> print(round(float(square_root(4.0)), 9), round(float(grad(square_root)(4.0)), 9))
    2.0 0.25
    """
    for function in (f, solve, tangent_solve):
        require_callable(_NAME, function)
    guess = vector_of(_NAME, "initial_guess", 1, initial_guess)

    def solve_linearized(x: Any, y: Any) -> Any:
        return tangent_solve(linearize(f, x)[1], y)

    label = "initial_guess"
    residual = trace_solver(_NAME, "f", f, label, guess)
    solver = trace_solver(_NAME, "solve", lambda x: solve(f, x), label, guess, has_aux=has_aux)
    tangent = trace_solver(_NAME, "tangent_solve", solve_linearized, label, guess, copies=2)
    traced = (residual, solver, tangent)
    operands = [x for group in (*[each.consts for each in traced], guess.leaves) for x in group]
    outs = root_p.bind(
        *operands,
        counts=tuple([len(each.consts) for each in traced]),
        f=residual.jaxpr,
        solve=solver.jaxpr,
        tangent_solve=tangent.jaxpr,
    )
    result: R = tree.unflatten(solver.out_tree, copy_aliased(outs, operands))
    return result
