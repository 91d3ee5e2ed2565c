"""``custom_linear_solve``: a linear solver with derivatives that are solves, whatever it does inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.autodiff import linear_transpose
from lawful.control_flow._solvers.jaxprs import Traced, trace_solver, vector_of
from lawful.control_flow._solvers.linear_solve_primitive import bind_linear_solve
from lawful.staging import copy_aliased, require_callable

_NAME = "custom_linear_solve"


def custom_linear_solve[R](
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], R],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> R:
    """Returns the solution of a linear system, with derivatives by the implicit function theorem.

    The derivative of a solve is a solve with the same matrix, and of the backward pass one with its transpose. So the
    solver is not differentiated: it may iterate, by ``while_loop``, and its steps are not stored.

    Args:
      matvec: the linear map, of pytrees of arrays like ``b`` to such. It may close over arrays and tracers, and the
        derivative by them is through it.
      b: the right-hand side, a pytree of floating or complex arrays.
      solve: ``solve(matvec, b)`` gives ``x`` with ``matvec(x) = b``, which is not checked. It is traced.
      transpose_solve: ``transpose_solve(vecmat, b)`` gives ``x`` with ``vecmat(x) = b``, for the transpose ``vecmat``
        of ``matvec``. Reverse mode needs it.
      symmetric: whether ``matvec`` is its own transpose; then ``solve`` is also the solver of the transposed system.
      has_aux: whether both solvers return ``(x, aux)``; ``aux`` has derivative zero.

    Returns:
      ``solve(matvec, b)``.

    Raises:
      ArgumentTypeError: one of the functions gives another structure, shape or dtype than that of ``b``, or ``b`` has
        integers; in reverse mode, there is no ``transpose_solve``.
      NotLinearError: in reverse mode, ``matvec`` is not linear.

    Law: of an exact solver the derivatives are those of ``A⁻¹ b``. Source: ``jax.lax.custom_linear_solve``.

    >>> import numpy as np
    >>> from lawful.autodiff import grad
    >>> def solve(matvec, b):
    ...     return b / matvec(np.ones(()))
    >>> def f(a):
    ...     return custom_linear_solve(lambda x: a * x, 6.0, solve, symmetric=True)
    >>> print(f(2.0), grad(f)(2.0))
    3.0 -1.5
    """
    for function in (matvec, solve) if transpose_solve is None else (matvec, solve, transpose_solve):
        require_callable(_NAME, function)
    vector = vector_of(_NAME, "b", 1, b)
    if symmetric and transpose_solve is None:
        transpose_solve = solve
    traced = [trace_solver(_NAME, "matvec", matvec, "b", vector)]
    traced.append(trace_solver(_NAME, "solve", lambda x: solve(matvec, x), "b", vector, has_aux=has_aux))
    jaxprs: dict[str, Any] = {"matvec": traced[0].jaxpr, "vecmat": None, "solve": traced[1].jaxpr}
    jaxprs["transpose_solve"] = None
    consts = [traced[0].consts, [], traced[1].consts, []]
    if transpose_solve is not None:
        vecmat, solver = _transposed(matvec, transpose_solve, vector, symmetric=symmetric, has_aux=has_aux)
        jaxprs |= {"vecmat": vecmat.jaxpr, "transpose_solve": solver.jaxpr}
        consts[1], consts[3] = vecmat.consts, solver.consts
    operands = [x for group in (*consts, vector.leaves) for x in group]
    outs = bind_linear_solve(operands, (len(consts[0]), len(consts[1]), len(consts[2]), len(consts[3])), jaxprs)
    result: R = tree.unflatten(traced[1].out_tree, copy_aliased(outs, operands))
    return result


def _transposed(
    matvec: Callable[[Any], Any], transpose_solve: Callable[..., Any], vector: Any, *, symmetric: bool, has_aux: bool
) -> tuple[Traced, Traced]:
    vecmat = matvec
    if not symmetric:
        transpose = linear_transpose(matvec, tree.unflatten(vector.tree, vector.avals))

        def vecmat(x: Any) -> Any:
            return transpose(x)[0]

    return (
        trace_solver(_NAME, "vecmat", vecmat, "b", vector),
        trace_solver(_NAME, "transpose_solve", lambda x: transpose_solve(vecmat, x), "b", vector, has_aux=has_aux),
    )
