"""Laws of linearization."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, check_jaxpr, jaxprs_in_params
from lawful.laws._directions import differentiable, restrict, tangents_of
from lawful.laws._law import Claim, Claims, Fault, Trial, law


@law("linearization", needs=("linearize", "jvp"))
def law_linearize_is_jvp(trial: Trial) -> Claims:
    """Linearization gives the derivative that forward mode gives, and its program does none of the primal work.

    Equation: linearize(f, x)[1](v) = jvp(f, (x,), (v,))[1], and every equation of linearize(f, x)[1].jaxpr uses v

    Raises:
      LawViolation: it does not hold.
    """
    for part in trial.some([_all_arguments, _floating_arguments]):
        yield from part(trial)


def _all_arguments(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out, linear = trial.system.linearize(function, *args)
    yield Claim("the primal output of linearize", out, "f(x)", function(*args))
    for number in range(2):
        v = tangents_of(trial, args)
        expected = trial.system.jvp(function, args, v)[1]
        yield Claim(f"linearize(f, x)[1](v), call {number + 1}", linear(*v), "jvp(f, (x,), (v,))[1]", expected)
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


def primal_work(jaxpr: Jaxpr, linear: list[bool]) -> Iterator[JaxprEqn]:
    """Yields the equations of a linear program that use no tangent.

    One of literals only is allowed: a constant such as zeros is cheaper to make than to keep.

    Args:
      jaxpr: the program.
      linear: for each input, whether it is a tangent.
    """
    depends: set[Var] = {var for var, is_linear in zip(jaxpr.invars, linear, strict=True) if is_linear}
    for eqn in jaxpr.eqns:
        uses = [type(atom) is Var and atom in depends for atom in eqn.invars]
        if not any(uses):
            if not all(type(atom) is Literal for atom in eqn.invars):
                yield eqn
            continue
        depends.update(eqn.outvars)
        for inner in jaxprs_in_params(eqn.params):
            # The operands of a sub-program are the last ones: a condition may stand before them.
            yield from primal_work(inner, uses[len(uses) - len(inner.invars) :])
