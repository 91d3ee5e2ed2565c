"""``cond_p``: the primitive that evaluates one of several jaxprs, with its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.autodiff import jvp_jaxpr, linearize_jaxpr, transpose_jaxpr
from lawful.control_flow._cond.residuals import Branches, Handover, hand_over, join_residuals
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    Run,
    ShapedArray,
    UndefinedPrimal,
    Var,
    Zero,
    get_aval,
    memoize,
)
from lawful.ops import broadcast_in_dim_p, concatenate_p, reshape_p, slice_p, with_weakness_of
from lawful.staging import dce_jaxpr, eval_call, hoist_common, kept, merge_lists, partial_eval_jaxpr, used_inputs

cond_p = Primitive("cond", multiple_results=True, pure_rules=True)


def _position(index: Any, branches: Sequence[Any]) -> int:
    return min(max(int(index), 0), len(branches) - 1)


@cond_p.def_impl
def _impl(index: Any, *args: Any, branches: Branches) -> list[Any]:
    return eval_call(branches[_position(index, branches)], *args)


cond_p.def_expand(_impl)


@cond_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, branches: Branches) -> Callable[..., Any]:
    functions = [compile(branch) for branch in branches]
    if len(functions) == 2:
        of_false, of_true = functions
        return lambda index, *args: (of_true if index > 0 else of_false)(*args)

    def choose(index: Any, *args: Any) -> Any:
        return functions[_position(index, functions)](*args)

    return choose


@cond_p.def_abstract_eval
def _abstract_eval(index: ShapedArray, *avals: ShapedArray, branches: Branches) -> list[ShapedArray]:
    for branch in branches:
        if branch.in_avals != list(avals):
            raise ArgumentTypeError(
                f"cond_p: expected operands of types {', '.join(map(str, branch.in_avals))}, "
                f"got {', '.join(map(str, avals))}; all branches take the operands of the call"
            )
        if branch.out_avals != branches[0].out_avals:
            raise ArgumentTypeError(
                f"cond_p: expected branches with results of types {', '.join(map(str, branches[0].out_avals))}, "
                f"got {', '.join(map(str, branch.out_avals))}"
            )
    results = branches[0].out_avals
    if not all(index.vma <= aval.vma for aval in results):
        raise ArgumentTypeError(
            f"cond_p: expected results that vary as the index does, which is {index}, got "
            f"{', '.join(map(str, results))}; devices take different branches"
        )
    return results


@cond_p.def_rule_as("weakness")
def _weakness(params: dict[str, Any]) -> list[bool | None]:
    return [None, *[aval.weak_type for aval in params["branches"][0].in_avals]]


@cond_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    branches, consts = hoist_common(params["branches"])
    index, *operands = args
    return [index, *consts, *operands], {"branches": tuple(branches)}


@cond_p.def_rule_as("runs")
def _runs(eqn: JaxprEqn) -> list[Run]:
    operands, results = range(1, len(eqn.invars)), range(len(eqn.outvars))
    return [Run(branch.jaxpr, operands, results) for branch in eqn.params["branches"]]


cond_p.def_rule("divergence", lambda avals, branches: avals[0].vma)


def union(masks: Sequence[Sequence[bool]]) -> tuple[bool, ...]:
    """Returns the elementwise union of masks."""
    return tuple(any(column) for column in zip(*masks, strict=True))


def _choose(index: Any, args: Sequence[Any], branches: Branches) -> list[Any]:
    """Binds derived branches; operands get the weakness of the branches' inputs."""
    outs: list[Any] = cond_p.bind(index, *map(with_weakness_of, args, branches[0].in_avals), branches=branches)
    return outs


# Derived branches are memoized on the first branch. Otherwise an outer cond, which derives its branches twice, would
# derive those of an inner cond four times: cost would double with each level of nesting.


@memoize
def _jvp_branches(
    first: ClosedJaxpr, others: Branches, nonzeros: tuple[bool, ...]
) -> tuple[Branches, tuple[bool, ...]]:
    branches = (first, *others)
    nonzeros_out = union([jvp_jaxpr(branch, nonzeros, False)[1] for branch in branches])
    return tuple(jvp_jaxpr(branch, nonzeros, nonzeros_out)[0] for branch in branches), nonzeros_out


@memoize
def _linearize_branches(
    first: ClosedJaxpr, others: Branches, nonzeros: tuple[bool, ...]
) -> tuple[Handover, tuple[bool, ...]]:
    branches = (first, *others)
    nonzeros_out = union([linearize_jaxpr(branch, nonzeros)[2] for branch in branches])
    parts = [linearize_jaxpr(branch, nonzeros, nonzeros_out) for branch in branches]
    counts = [len(part[0].out_avals) - len(nonzeros_out) for part in parts]
    return hand_over([part[0] for part in parts], [part[1] for part in parts], counts), nonzeros_out


_REARRANGING: Final = frozenset((cond_p, slice_p, reshape_p, concatenate_p, broadcast_in_dim_p))


@memoize
def _rearranges(closed: ClosedJaxpr) -> bool:
    """Whether a jaxpr only returns its inputs and parts of them, so that it is cheap to evaluate again."""
    return all(
        [eqn.primitive in _REARRANGING and all(map(_rearranges, eqn.params.get("branches", ()))) for eqn in closed.eqns]
    )


@memoize
def _split_branches(
    first: ClosedJaxpr, others: Branches, unknown: tuple[bool, ...]
) -> tuple[Handover, tuple[bool, ...]] | None:
    """Returns branches split in known and unknown parts; None if the known parts only rearrange operands."""
    branches = (first, *others)
    unknown_out = union([partial_eval_jaxpr(branch, unknown).unknown_out for branch in branches])
    parts = [partial_eval_jaxpr(branch, unknown, unknown_out) for branch in branches]
    if all(unknown_out) and all([_rearranges(part.known) for part in parts]):
        return None
    cut = hand_over(
        [part.known for part in parts], [part.unknown for part in parts], [part.residual_count for part in parts]
    )
    return cut, unknown_out


@memoize
def _transpose_branches(
    first: ClosedJaxpr, others: Branches, linear: tuple[bool, ...], nonzeros: tuple[bool, ...]
) -> tuple[Branches, tuple[bool, ...]]:
    branches = (first, *others)
    nonzeros_out = union([transpose_jaxpr(branch, linear, nonzeros)[1] for branch in branches])
    return tuple(transpose_jaxpr(branch, linear, nonzeros, nonzeros_out)[0] for branch in branches), nonzeros_out


@memoize
def _dce_branches(first: ClosedJaxpr, others: Branches, used: tuple[bool, ...]) -> tuple[Branches, tuple[bool, ...]]:
    branches = (first, *others)
    used_in = union([used_inputs(branch, used) for branch in branches])
    smaller = tuple(dce_jaxpr(branch, used) for branch in branches)
    if all(used_in) and all(new is old for new, old in zip(smaller, branches, strict=True)):
        return branches, used_in
    return tuple(_keep_inputs(branch, used_in) for branch in smaller), used_in


@cond_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, branches: Branches) -> tuple[list[Any], list[Any]]:
    nonzeros = tuple(type(t) is not Zero for t in tangents[1:])
    derived, nonzeros_out = _jvp_branches(branches[0], branches[1:], nonzeros)
    given_tangents = [t for t in tangents[1:] if type(t) is not Zero]
    outs = _choose(primals[0], [*primals[1:], *given_tangents], derived)
    count = len(nonzeros_out)
    given = iter(outs[count:])
    return outs[:count], [
        next(given) if nonzero else Zero(get_aval(x).to_tangent_aval())
        for x, nonzero in zip(outs[:count], nonzeros_out, strict=True)
    ]


@cond_p.def_linearize
def _linearize(nonzeros: Sequence[bool], index: Any, *operands: Any, branches: Branches) -> Any:
    cut, nonzeros_out = _linearize_branches(branches[0], branches[1:], tuple(nonzeros[1:]))
    count = len(nonzeros_out)
    outs = _choose(index, operands, cut.producers)
    residuals = [*outs[count:], *(operands[i] for i in cut.passed)]

    def tangent_fun(*tangents: Any) -> list[Any]:
        return _choose(index, [*residuals, *tangents], cut.consumers)

    return outs[:count], nonzeros_out, tangent_fun


@cond_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], index: Any, *operands: Any, branches: Branches
) -> list[Any]:
    mask = tuple(unknown[1:])
    split = None if unknown[0] else _split_branches(branches[0], branches[1:], mask)
    if split is None:
        result: list[Any] = record(index, *operands, branches=branches)
        return result
    cut, unknown_out = split
    known_operands = [x for x, is_unknown in zip(operands, mask, strict=True) if not is_unknown]
    outs = _choose(index, known_operands, cut.producers)
    count = len(unknown_out) - sum(unknown_out)
    residuals = [*outs[count:], *(known_operands[i] for i in cut.passed)]
    given = map(with_weakness_of, residuals, cut.consumers[0].in_avals)
    rest = record(index, *given, *kept(operands, mask), branches=cut.consumers)
    return merge_lists(unknown_out, outs[:count], rest)


@cond_p.def_transpose
def _transpose(cts: Sequence[Any], index: Any, *operands: Any, branches: Branches) -> list[Any]:
    linear = tuple(isinstance(x, UndefinedPrimal) for x in operands)
    nonzeros = tuple(type(ct) is not Zero for ct in cts)
    transposed, nonzeros_out = _transpose_branches(branches[0], branches[1:], linear, nonzeros)
    residuals = [x for x in operands if not isinstance(x, UndefinedPrimal)]
    given = [ct for ct in cts if type(ct) is not Zero]
    outs = iter(_choose(index, [*residuals, *given], transposed))
    nonzero = iter(nonzeros_out)
    return [
        None,
        *(
            (next(outs) if next(nonzero) else Zero(x.aval)) if isinstance(x, UndefinedPrimal) else None
            for x in operands
        ),
    ]


@cond_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    branches = eqn.params["branches"]
    smaller, used_in = _dce_branches(branches[0], branches[1:], tuple(used))
    if smaller == branches:
        return eqn
    return eqn.replace(
        invars=[eqn.invars[0], *kept(eqn.invars[1:], used_in)],
        outvars=kept(eqn.outvars, used),
        params={"branches": smaller},
    )


def _keep_inputs(closed: ClosedJaxpr, mask: Sequence[bool]) -> ClosedJaxpr:
    return ClosedJaxpr(closed.jaxpr.replace(invars=kept(closed.jaxpr.invars, mask)), closed.consts)


@cond_p.def_rule_as("checkpoint")
def _cut(cut: Callable[[ClosedJaxpr], Any], eqn: JaxprEqn) -> tuple[JaxprEqn, JaxprEqn, list[Var]]:
    parts = [cut(branch) for branch in eqn.params["branches"]]
    if not any(part.count for part in parts):
        return eqn, eqn, []
    keeping, again, count = join_residuals(
        [part.keeping for part in parts], [part.again for part in parts], [part.count for part in parts]
    )
    new = [Var(aval) for aval in keeping[0].out_avals[-count:]]
    index, *operands = eqn.invars
    return (
        eqn.replace(outvars=[*eqn.outvars, *new], params={"branches": keeping}),
        eqn.replace(invars=[index, *new, *operands], params={"branches": again}),
        new,
    )


@cond_p.def_lowering
def _lower(ctx: Any, index: Any, *operands: Any, branches: Branches) -> Any:
    return ctx.case(index, branches, operands)
