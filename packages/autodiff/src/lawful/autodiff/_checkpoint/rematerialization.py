"""Rematerialization: a program in two parts, of which the second computes values of the first again.

The first part returns the results and the values that a policy allows to save. The second begins with the equations
that compute its residuals from these values and the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lawful.autodiff._checkpoint_name import name_p
from lawful.autodiff._linearize import linearize_jaxpr
from lawful.autodiff.checkpoint_policies import AnyPolicy, from_param, is_allowed
from lawful.core import ClosedJaxpr, JaxprEqn, Var, eval_closed_jaxpr, memoize, record
from lawful.staging import dce_call, dce_jaxpr, jit_p, partial_eval_jaxpr, trace_to_jaxpr

Mask = tuple[bool, ...]


@record
class Cut:
    """A jaxpr that returns the values that may be saved, and one that begins with them.

    Attributes:
      keeping: from the inputs to the outputs, and then the values that may be kept.
      again: from these values and then the inputs to the outputs.
      count: how many values may be kept.
    """

    keeping: ClosedJaxpr
    again: ClosedJaxpr
    count: int


#: The rule in the slot ``"checkpoint"`` of a call-like primitive takes a function that cuts the jaxprs inside it, and
#: an equation. It gives the equation that also gives what may be kept, the one that also takes it, as its first
#: operands, and the new variables. Without a rule the policy is asked about the primitive itself.
CutRule = Callable[[Callable[[ClosedJaxpr], Cut], JaxprEqn], tuple[JaxprEqn, JaxprEqn, list[Var]]]


@memoize
def cut_jaxpr(closed: ClosedJaxpr, policy_param: Any) -> Cut:
    """Returns a jaxpr cut at all values that a policy allows to keep, also within the jaxprs inside it."""
    policy = from_param(policy_param)
    saved: list[Var] = []
    keeping: list[JaxprEqn] = []
    again: list[JaxprEqn] = []
    names = _names_of(closed)
    for eqn in closed.eqns:
        rule: CutRule | None = eqn.primitive.rule_or_none("checkpoint")
        if rule is not None:
            first, second, new = rule(partial(cut_jaxpr, policy_param=policy_param), eqn)
            keeping.append(first)
            again.append(second)
            saved += new
            continue
        keeping.append(eqn)
        if _is_saveable(policy, eqn, names):
            saved += eqn.outvars
        else:
            again.append(eqn)
    jaxpr = closed.jaxpr
    return Cut(
        ClosedJaxpr(jaxpr.replace(eqns=keeping, outvars=[*jaxpr.outvars, *saved]), closed.consts),
        ClosedJaxpr(jaxpr.replace(invars=[*saved, *jaxpr.invars], eqns=again), closed.consts),
        len(saved),
    )


def _names_of(closed: ClosedJaxpr) -> dict[Var, list[str]]:
    """Returns the names that ``checkpoint_name`` gives to variables."""
    names: dict[Var, list[str]] = {}
    for eqn in closed.eqns:
        if eqn.primitive is name_p and type(eqn.invars[0]) is Var:
            names.setdefault(eqn.invars[0], []).append(eqn.params["name"])
    return names


def _is_saveable(policy: AnyPolicy, eqn: JaxprEqn, names: dict[Var, list[str]]) -> bool:
    given = [name for var in eqn.outvars for name in names.get(var, ())] if names else ()
    return is_allowed(policy, eqn.primitive, tuple([atom.aval for atom in eqn.invars]), eqn.params, given)


def cut_call(cut: Callable[[ClosedJaxpr], Cut], eqn: JaxprEqn) -> tuple[JaxprEqn, JaxprEqn, list[Var]]:
    """The rule of a primitive that calls the jaxpr in its parameter ``jaxpr``.

    >>> from lawful.ops import sin
    >>> from lawful.staging import jit, make_jaxpr
    >>> eqn = make_jaxpr(jit(lambda x: sin(sin(x))))(1.0).eqns[0]
    >>> first, second, new = cut_call(partial(cut_jaxpr, policy_param="everything_saveable"), eqn)
    >>> len(first.outvars), len(second.invars), len(new)
    (4, 4, 3)
    """
    parts = cut(eqn.params["jaxpr"])
    if not parts.count:
        return eqn, eqn, []
    new = [Var(aval) for aval in parts.keeping.out_avals[-parts.count :]]
    # The second call still needs the operands that are donated to the first.
    params = {name: value for name, value in eqn.params.items() if name != "donated"}
    return (
        eqn.replace(outvars=[*eqn.outvars, *new], params={**params, "jaxpr": parts.keeping}),
        eqn.replace(invars=[*new, *eqn.invars], params={**params, "jaxpr": parts.again}),
        new,
    )


jit_p.def_rule("checkpoint", cut_call)


@record
class Rematerialized:
    """A program in two parts.

    Attributes:
      forward: from the inputs to the outputs, and then the values that are kept.
      kept: how many these are.
      inputs: for each input, whether it is kept too.
      backward: from the values, the inputs that are kept, and the arguments that come later, to the later results.
    """

    forward: ClosedJaxpr
    kept: int
    inputs: Mask
    backward: ClosedJaxpr


@memoize
def rematerialize(known: ClosedJaxpr, unknown: ClosedJaxpr, count: int, policy_param: Any) -> Rematerialized:
    """Returns two programs, the first of which gives residuals to the second, as such that hand over fewer values.

    Args:
      known: from the inputs to the outputs, and then the residuals.
      unknown: from the residuals, and then what comes later, to the later results.
      count: how many outputs ``known`` has.
      policy_param: the policy, as a parameter of an equation.
    """
    residuals = len(known.out_avals) - count
    cut = Cut(known, known, 0) if policy_param is None else cut_jaxpr(known, policy_param)
    again, used = dce_call(cut.again, (False,) * count + (True,) * residuals)
    saved, inputs = used[: cut.count], used[cut.count :]
    forward = dce_jaxpr(cut.keeping, (*(True,) * count, *(False,) * residuals, *saved))
    taken = len(again.in_avals)

    def recomputing(*args: Any) -> list[Any]:
        return eval_closed_jaxpr(unknown, *eval_closed_jaxpr(again, *args[:taken]), *args[taken:])

    backward = trace_to_jaxpr(
        recomputing,
        [*again.in_avals, *unknown.in_avals[residuals:]],
        transformation="checkpoint",
        name=unknown.jaxpr.name,
    )
    return Rematerialized(forward, sum(saved), inputs, backward)


@memoize
def linearize_again(closed: ClosedJaxpr, nonzeros: Mask, policy_param: Any) -> tuple[Rematerialized, Mask]:
    """Returns a jaxpr and its derivative, which computes again what it needs of it.

    Args:
      closed: the program.
      nonzeros: for each input, whether it has a tangent.
      policy_param: the policy, as a parameter of an equation.

    Returns:
      The two programs, of which the second takes tangents, and for each output whether the second gives its tangent.
    """
    primal, linear, nonzeros_out = linearize_jaxpr(closed, nonzeros)
    return rematerialize(primal, linear, len(closed.out_avals), policy_param), nonzeros_out


@memoize
def partial_eval_again(closed: ClosedJaxpr, unknown: Mask, policy_param: Any) -> tuple[Rematerialized, Mask]:
    """Returns a jaxpr cut into what its known inputs decide and the rest, which computes again what it needs.

    Args:
      closed: the program.
      unknown: for each input, whether it is unknown.
      policy_param: the policy, as a parameter of an equation.

    Returns:
      The two programs, and for each output whether the second gives it.
    """
    split = partial_eval_jaxpr(closed, unknown)
    outputs = len(split.known.out_avals) - split.residual_count
    return rematerialize(split.known, split.unknown, outputs, policy_param), split.unknown_out
