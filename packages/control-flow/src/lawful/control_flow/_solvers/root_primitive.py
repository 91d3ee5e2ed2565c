"""``root_p``: the primitive of a root whose derivative is a linear solve, with its rules.

Its jaxprs are the function f, the solver, and the solver of the linear system of f's derivative at the root. Its
operands are the constants of these three, with numbers ``counts``, and then the guess. At a root x of f(p, x) = 0,
∂f/∂x ẋ = −∂f/∂p ṗ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.batching import batch_jaxpr, place_batch_dim
from lawful.control_flow._loops.bodies import instantiate_tangents, split_list
from lawful.control_flow._solvers.linear_solve_primitive import along_consts, weakness_of_jaxprs
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    Zero,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.ops import neg, with_weakness_of
from lawful.staging import eval_call, hoist_groups, partial_eval_jaxpr

Counts = tuple[int, int, int]

root_p = Primitive("root", multiple_results=True, pure_rules=True)


def _impl(*args: Any, counts: Counts, solve: ClosedJaxpr, **others: Any) -> list[Any]:
    _, consts, _, guess = split_list(args, counts)
    return eval_call(solve, *consts, *guess)


root_p.def_impl(_impl, any_array=True)
root_p.def_expand(_impl)


@root_p.def_rule_as("numpy")
def _numpy(
    avals: Sequence[ShapedArray], compile: Callable[..., Any], *, counts: Counts, solve: ClosedJaxpr, **others: Any
) -> Callable[..., list[Any]]:
    solver = compile(solve)

    def run(*args: Any) -> list[Any]:
        _, consts, _, guess = split_list(args, counts)
        found: list[Any] = solver(*consts, *guess)
        return found

    return run


@root_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray, counts: Counts, f: ClosedJaxpr, solve: ClosedJaxpr, tangent_solve: ClosedJaxpr
) -> list[ShapedArray]:
    f_consts, solve_consts, tangent_consts, guess = split_list(avals, counts)
    expected = ((f, [*f_consts, *guess]), (solve, [*solve_consts, *guess]))
    for jaxpr, avals_in in (*expected, (tangent_solve, [*tangent_consts, *guess, *guess])):
        if jaxpr.in_avals != avals_in:
            raise ArgumentTypeError(
                f"root_p: expected operands of types {', '.join(map(str, jaxpr.in_avals))}, got "
                f"{', '.join(map(str, avals_in))}; each jaxpr takes its constants and the guess"
            )
    return solve.out_avals


@root_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool | None]:
    jaxprs = [params[name] for name in ("f", "solve", "tangent_solve")]
    return weakness_of_jaxprs(jaxprs, params["counts"], params["solve"])


@root_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, jaxprs, counts = hoist_groups(
        args, [params[name] for name in ("f", "solve", "tangent_solve")], params["counts"]
    )
    return operands, {"counts": tuple(counts), **dict(zip(("f", "solve", "tangent_solve"), jaxprs, strict=True))}


@root_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, counts: Counts, **jaxprs: Any) -> Any:
    outs = root_p.bind(*primals, counts=counts, **jaxprs)
    f_consts, _, tangent_consts, guess = split_list(primals, counts)
    f_dots, *_ = split_list(tangents, counts)
    # The root depends neither on the guess nor on the constants of the solvers.
    dots: list[Any] = [Zero(get_aval(x).to_tangent_aval()) for x in outs]
    if any(type(t) is not Zero for t in f_dots):
        root = outs[: len(guess)]
        rhs = along_consts(jaxprs["f"], f_consts, f_dots, root)
        solver = jaxprs["tangent_solve"]
        operands = [*tangent_consts, *root, *instantiate_tangents(rhs, (True,) * len(rhs))]
        solved = eval_closed_jaxpr(solver, *map(with_weakness_of, operands, solver.in_avals))
        # A tangent that depends on no nonzero right-hand side is a symbolic zero: an array would be one more residual.
        moving = tuple([type(t) is not Zero for t in rhs])
        moved = partial_eval_jaxpr(solver, (*(False,) * (len(operands) - len(rhs)), *moving)).unknown_out
        dots[: len(guess)] = [neg(x) if moves else t for x, moves, t in zip(solved, moved, dots, strict=False)]
    return outs, dots


root_p.declare_absent("transpose", "a root is not linear in what it depends on")


@root_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, counts: Counts, f: ClosedJaxpr,
    solve: ClosedJaxpr, tangent_solve: ClosedJaxpr,
) -> tuple[list[Any], list[int | None]]:  # fmt: skip
    guess = args[sum(counts) :]
    f_dims, solve_dims, tangent_dims, guess_dims = split_list(dims, counts)
    mapped: tuple[int | None, ...] = (0,) * len(guess)
    wanted = (True,) * len(guess) + (False,) * (len(solve.out_avals) - len(guess))
    # Whatever is mapped, each batch element has its own root.
    batched_solve, dims_out = batch_jaxpr(solve, axis_data, (*solve_dims, *mapped), wanted)
    outs = root_p.bind(
        *args[: sum(counts)],
        *[place_batch_dim(x, dim, 0, axis_data.size) for x, dim in zip(guess, guess_dims, strict=True)],
        counts=counts,
        f=batch_jaxpr(f, axis_data, (*f_dims, *mapped), True)[0],
        solve=batched_solve,
        tangent_solve=batch_jaxpr(tangent_solve, axis_data, (*tangent_dims, *mapped, *mapped), True)[0],
    )
    return outs, list(dims_out)


@root_p.def_lowering
def _lower(ctx: Any, *operands: Any, counts: Counts, solve: ClosedJaxpr, **others: Any) -> Any:
    _, consts, _, guess = split_list(operands, counts)
    return ctx.call(solve, [*consts, *guess], name="root")
