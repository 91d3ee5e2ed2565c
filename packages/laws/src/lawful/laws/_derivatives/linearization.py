"""Laws of linearization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lawful.autodiff import checkpoint_p
from lawful.control_flow import linear_solve_p, scan_p, while_p
from lawful.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, applies_effects, check_jaxpr, jaxprs_in_params
from lawful.custom_rules import linear_call_p
from lawful.laws._derivatives.directions import differentiable, restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law
from lawful.ops import broadcast_in_dim_p, reshape_p
from lawful.parallel import shard_map_p

_OPAQUE: Final = (checkpoint_p, linear_solve_p, while_p)


@law("linearization", needs=("linearize", "jvp"))
def law_linearize_is_jvp(trial: Trial) -> Claims:
    """Linearization gives the derivative that forward mode gives, and its program does none of the primal work.

    What ``checkpoint``, ``while_loop`` and a ``scan`` with checkpoints compute again is not counted, nor how a linear
    system is solved.

    Equation: linearize(f, x)[1](v) = jvp(f, (x,), (v,))[1], and every equation of linearize(f, x)[1].jaxpr uses v

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_linearize_is_jvp(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    for part in trial.some([_all_arguments, _floating_arguments]):
        yield from part(trial)


def _all_arguments(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out, linear = trial.system.linearize(function, *args)
    yield Claim("the primal output of linearize", out, "f(x)", trial.value(function, args))
    compared = trial.some((1, 2))
    for number in (1, 2):
        v = tangents_of(trial, args)
        along_v = linear(*v)
        if number in compared:
            expected = trial.system.jvp(function, args, v)[1]
            yield Claim(f"linearize(f, x)[1](v), call {number}", along_v, "jvp(f, (x,), (v,))[1]", expected)
    if trial.has("jaxprs"):
        closed: ClosedJaxpr = linear.jaxpr  # type: ignore[attr-defined]
        check_jaxpr(closed)
        yield from _faults(closed)


def _floating_arguments(trial: Trial) -> Claims:
    restricted, leaves = restrict(trial)
    given = tangents_of(trial, leaves)
    yield Claim(
        "linearize with integers closed over", trial.system.linearize(restricted, *leaves)[1](*given),
        "jvp", trial.system.jvp(restricted, leaves, given)[1],
    )  # fmt: skip


def _faults(closed: ClosedJaxpr) -> Iterator[Fault]:
    for eqn in primal_work(closed.jaxpr, [True] * len(closed.jaxpr.invars)):
        yield Fault(f"the linear program does primal work: `{eqn}` uses no tangent", f"in {closed}")


def primal_work(jaxpr: Jaxpr, linear: list[bool], *, in_parts: bool = False) -> Iterator[JaxprEqn]:
    """Yields the equations of a linear program that use no tangent.

    Three sorts of equations are allowed: those of literals or broadcasts, whose result is cheaper to compute than to
    store; those that are recomputed on purpose, with the effects that they repeat; and those inside of a solver.

    Args:
      jaxpr: the program.
      linear: for each input, whether it is a tangent.
      in_parts: whether it is that of a ``shard_map``, whose residuals have a dimension for the devices.
    """
    depends: set[Var] = {var for var, is_linear in zip(jaxpr.invars, linear, strict=True) if is_linear}
    for eqn in jaxpr.eqns:
        uses = [type(atom) is Var and atom in depends for atom in eqn.invars]
        if not any(uses):
            is_free = eqn.primitive is broadcast_in_dim_p or (in_parts and eqn.primitive is reshape_p)
            repeats_effects = _is_recomputed(eqn) and applies_effects(eqn.primitive, eqn.params)
            if not (is_free or repeats_effects) and not all(type(atom) is Literal for atom in eqn.invars):
                yield eqn
            continue
        depends.update(eqn.outvars)
        if eqn.primitive in _OPAQUE or _is_recomputed(eqn):
            continue
        if eqn.primitive is scan_p:
            uses = _uses_in_any_iteration(eqn, uses)
        for inner in jaxprs_in_params(eqn.params):
            if eqn.primitive is linear_call_p:
                # The user's transpose takes all tangents together, so zeros are instantiated.
                count = eqn.params["num_res"]
                yield from primal_work(inner, [False] * count + [True] * (len(inner.invars) - count))
                continue
            # The operands of a sub-jaxpr come last; a predicate may precede them.
            of_parts = in_parts or eqn.primitive is shard_map_p
            yield from primal_work(inner, uses[len(uses) - len(inner.invars) :], in_parts=of_parts)


def _is_recomputed(eqn: JaxprEqn) -> bool:
    return eqn.params.get("checkpoints") is not None


def _uses_in_any_iteration(scan: JaxprEqn, uses: list[bool]) -> list[bool]:
    """Returns for each operand of a scan whether it has a tangent; a carry, whether it has one in some iteration."""
    body = scan.params["jaxpr"].jaxpr
    first, count = scan.params["num_consts"], scan.params["num_carry"]
    while True:
        depends = {var for var, is_linear in zip(body.invars, uses, strict=True) if is_linear}
        for eqn in body.eqns:
            if not depends.isdisjoint([atom for atom in eqn.invars if type(atom) is Var]):
                depends.update(eqn.outvars)
        carry = [type(atom) is Var and atom in depends for atom in body.outvars[:count]]
        wider = [*uses[:first], *map(max, uses[first : first + count], carry), *uses[first + count :]]
        if wider == uses:
            return uses
        uses = wider
