"""``linear_solve_p``: the primitive of a linear solve whose derivative is another solve, with its rules.

Its jaxprs are the linear map, its transpose, and a solver for each. Its operands are the constants of these four, with
numbers ``counts``, and then the right-hand side. With A the linear map, x the solution and b the
right-hand side, A x = b: so A ẋ = ḃ − Ȧ x, and the cotangent of b solves Aᵀ b̄ = x̄.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lawful.autodiff import jvp_jaxpr
from lawful.batching import batch_jaxpr, place_batch_dim
from lawful.control_flow._loops.bodies import Mask, instantiate_tangents, split_list, with_zeros
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    NotLinearError,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    memoize,
)
from lawful.ops import add_tangents, neg, with_weakness_of
from lawful.staging import dce_jaxpr, eval_call, hoist_groups, with_common_axes

Counts = tuple[int, int, int, int]
Jaxpr = ClosedJaxpr | None

linear_solve_p = Primitive("linear_solve", multiple_results=True, pure_rules=True)


def bind_linear_solve(args: Sequence[Any], counts: Counts, jaxprs: Mapping[str, Jaxpr]) -> list[Any]:
    """Binds the primitive; inside ``shard_map`` all operands vary over the same axes.

    The right-hand side gets the weakness of the jaxprs' inputs: a tangent may have another one.
    """
    args, jaxprs = with_common_axes(args, jaxprs)
    solve = jaxprs["solve"]
    assert solve is not None
    consts, b = split_list(args, (sum(counts),))
    args = [*consts, *map(with_weakness_of, b, solve.in_avals[counts[2] :])]
    outs: list[Any] = linear_solve_p.bind(*args, counts=counts, **jaxprs)
    return outs


def _impl(*args: Any, counts: Counts, solve: ClosedJaxpr, **others: Any) -> list[Any]:
    _, _, consts, _, b = split_list(args, counts)
    return eval_call(solve, *consts, *b)


linear_solve_p.def_impl(_impl, any_array=True)
linear_solve_p.def_expand(_impl)


@linear_solve_p.def_rule_as("numpy")
def _numpy(
    avals: Sequence[ShapedArray], compile: Callable[..., Any], *, counts: Counts, solve: ClosedJaxpr, **others: Any
) -> Callable[..., list[Any]]:
    solver = compile(solve)

    def run(*args: Any) -> list[Any]:
        _, _, consts, _, b = split_list(args, counts)
        found: list[Any] = solver(*consts, *b)
        return found

    return run


@linear_solve_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray,
    counts: Counts,
    matvec: ClosedJaxpr,
    vecmat: Jaxpr,
    solve: ClosedJaxpr,
    transpose_solve: Jaxpr,
) -> list[ShapedArray]:
    *consts, b = split_list(avals, counts)
    for name, jaxpr, own_consts in zip(
        ("matvec", "vecmat", "solve", "transpose_solve"), (matvec, vecmat, solve, transpose_solve), consts, strict=True
    ):
        if jaxpr is not None and jaxpr.in_avals != [*own_consts, *b]:
            raise ArgumentTypeError(
                f"linear_solve_p: expected operands of types {', '.join(map(str, jaxpr.in_avals))} for {name}, got "
                f"{', '.join(map(str, [*own_consts, *b]))}; each jaxpr takes its constants and the right-hand side"
            )
    return solve.out_avals


@memoize
def tangent_of_consts(closed: ClosedJaxpr, nonzeros: Mask) -> tuple[ClosedJaxpr, Mask]:
    """Returns a jaxpr that maps the inputs of a jaxpr and then the tangents to the nonzero output tangents.

    The second result is a mask of the outputs that have a nonzero tangent.
    """
    derived, nonzeros_out = jvp_jaxpr(closed, nonzeros, False)
    outputs = len(closed.out_avals)
    return dce_jaxpr(derived, (False,) * outputs + (True,) * (len(derived.out_avals) - outputs)), nonzeros_out


def along_consts(closed: ClosedJaxpr, consts: Sequence[Any], dots: Sequence[Any], xs: Sequence[Any]) -> list[Any]:
    """Returns the derivative of a jaxpr of constants and ``xs`` along tangents of the constants; zeros are symbolic."""
    nonzeros = tuple([type(t) is not Zero for t in dots])
    derived, nonzeros_out = tangent_of_consts(closed, (*nonzeros, *(False,) * len(xs)))
    moved = eval_closed_jaxpr(derived, *consts, *xs, *instantiate_tangents(dots, nonzeros))
    return with_zeros(moved, nonzeros_out, [aval.to_tangent_aval() for aval in closed.out_avals])


def weakness_of_jaxprs(
    jaxprs: Sequence[ClosedJaxpr | None], counts: Sequence[int], solve: ClosedJaxpr
) -> list[bool | None]:
    """Returns whether operands are weak: the constants of jaxprs, of these numbers, and the vector that all take."""
    found: list[bool | None] = []
    for jaxpr, count in zip(jaxprs, counts, strict=True):
        found += [None] * count if jaxpr is None else [aval.weak_type for aval in jaxpr.in_avals[:count]]
    taken = counts[[jaxpr is solve for jaxpr in jaxprs].index(True)]
    return [*found, *[aval.weak_type for aval in solve.in_avals[taken:]]]


@linear_solve_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool | None]:
    jaxprs = [params[name] for name in ("matvec", "vecmat", "solve", "transpose_solve")]
    return weakness_of_jaxprs(jaxprs, params["counts"], params["solve"])


@linear_solve_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, jaxprs, counts = hoist_groups(args, [params[name] for name in _NAMES], params["counts"])
    return operands, {"counts": tuple(counts), **dict(zip(_NAMES, jaxprs, strict=True))}


@linear_solve_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, counts: Counts, **jaxprs: Any) -> Any:
    outs = bind_linear_solve(primals, counts, jaxprs)
    matvec_consts, *_, b = split_list(primals, counts)
    matvec_dots, *_, rhs = split_list(tangents, counts)
    if any(type(t) is not Zero for t in matvec_dots):
        moved = along_consts(jaxprs["matvec"], matvec_consts, matvec_dots, outs[: len(b)])
        rhs = [t if type(u) is Zero else add_tangents(t, neg(u)) for t, u in zip(rhs, moved, strict=True)]
    dots: list[Any] = [Zero(get_aval(x).to_tangent_aval()) for x in outs]
    if any(type(t) is not Zero for t in rhs):
        consts = primals[: sum(counts)]
        solved = bind_linear_solve([*consts, *instantiate_tangents(rhs, (True,) * len(b))], counts, jaxprs)
        dots[: len(b)] = solved[: len(b)]
    return outs, dots


@linear_solve_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any, counts: Counts, **jaxprs: Any) -> list[Any]:
    *consts, b = split_list(args, counts)
    if any(isinstance(x, UndefinedPrimal) for x in args[: sum(counts)]) or any(
        type(ct) is not Zero for ct in cts[len(b) :]
    ):
        raise NotLinearError(
            "custom_linear_solve: expected a function that is linear in what it is transposed by, got one that solves "
            "with another map, or that gives auxiliary output; it is linear in the right-hand side only"
        )
    if jaxprs["transpose_solve"] is None:
        raise ArgumentTypeError(
            "custom_linear_solve: expected a solver of the transposed system to differentiate in reverse mode, got "
            "none; give transpose_solve, or symmetric=True if the map is symmetric"
        )
    order = (1, 0, 3, 2)
    matvec, vecmat, solve, transpose_solve = (jaxprs[name] for name in _NAMES)
    swapped = dict(zip(_NAMES, (vecmat, matvec, transpose_solve, solve), strict=True))
    operands = [*[x for i in order for x in consts[i]], *instantiate_tangents(cts[: len(b)], (True,) * len(b))]
    solved = bind_linear_solve(operands, (counts[1], counts[0], counts[3], counts[2]), swapped)
    found = [ct if isinstance(x, UndefinedPrimal) else None for x, ct in zip(b, solved, strict=False)]
    return [*(None,) * sum(counts), *found]


_NAMES = ("matvec", "vecmat", "solve", "transpose_solve")


@linear_solve_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, counts: Counts, **jaxprs: Any
) -> tuple[list[Any], list[int | None]]:
    *_, b = split_list(args, counts)
    *consts_dims, b_dims = split_list(dims, counts)
    # Whatever is mapped, each batch element has its own system and so its own solution.
    batched: dict[str, Jaxpr] = {}
    dims_out: list[int | None] = []
    for name, dims_in in zip(_NAMES, consts_dims, strict=True):
        jaxpr = jaxprs[name]
        if jaxpr is None:
            batched[name] = None
            continue
        wanted = (True,) * len(b) + (False,) * (len(jaxpr.out_avals) - len(b))
        batched[name], found = batch_jaxpr(jaxpr, axis_data, (*dims_in, *(0,) * len(b)), wanted)
        if name == "solve":
            dims_out = list(found)
    mapped = [place_batch_dim(x, dim, 0, axis_data.size) for x, dim in zip(b, b_dims, strict=True)]
    return linear_solve_p.bind(*args[: sum(counts)], *mapped, counts=counts, **batched), dims_out


@linear_solve_p.def_lowering
def _lower(ctx: Any, *operands: Any, counts: Counts, solve: ClosedJaxpr, **others: Any) -> Any:
    _, _, consts, _, b = split_list(operands, counts)
    return ctx.call(solve, [*consts, *b], name="linear_solve")
