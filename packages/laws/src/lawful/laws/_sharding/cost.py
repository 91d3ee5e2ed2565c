"""The law of cost of communication: the collectives in a gradient, and the bytes that they move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from lawful.autodiff import grad
from lawful.core import ClosedJaxpr, JaxprEqn
from lawful.laws._derivatives.directions import scalarized
from lawful.laws._law.law import Claims, Fault, Inapplicable, Trial, law
from lawful.laws._sharding.plan import draw_plan
from lawful.laws._staging.cost import all_equations
from lawful.staging import make_jaxpr

#: The collectives that move arrays between devices.
MOVING: Final = frozenset(
    {
        *("psum", "psum_invariant", "pmax", "pmin", "all_gather", "all_gather_invariant"),
        *("reduce_scatter", "all_to_all", "ppermute", "pbroadcast"),
    }
)


def equations_of(closed: ClosedJaxpr, names: Iterable[str]) -> list[JaxprEqn]:
    """Returns the equations of some primitives in a jaxpr and in its sub-jaxprs."""
    wanted = {*names}
    return [eqn for eqn in all_equations(closed.jaxpr) if eqn.primitive.name in wanted]


def moved_bytes(eqns: Iterable[JaxprEqn]) -> int:
    """Returns the bytes of the larger one of operand and result of each equation: what a device sends or receives."""
    return sum(
        max([atom.aval.size * atom.aval.dtype.itemsize for atom in (*eqn.invars, *eqn.outvars)], default=0)
        for eqn in eqns
    )


@law("cost", needs=("devices", "jaxprs", "grad"), share=1 / 8)
def law_gradient_collectives(trial: Trial) -> Claims:
    """A gradient communicates at most once more for each collective of the function, and for each value that the
    devices share and that meets values of one device.

    Equation: |collectives of grad(f)| ≤ 2 |collectives of f| + |meetings of f|, counted in equations and in bytes,
    where a meeting is that of a value that is the same along an axis with all values that vary over it; so a gradient
    of functions of elements of split arrays has no collective

    Types are checked (``check_vma``). A collective moves the bytes of its operand or its result, the larger ones.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: no argument can be split, nothing to differentiate, or the function has unchecked calls for devices.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_gradient_collectives(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    plan = draw_plan(trial)
    function, leaves = plan.restricted(plan.mapped(trial, checked=True))
    loss = scalarized(trial.system, function, trial.case.seed)
    primal = make_jaxpr(function)(*leaves)
    if not primal.out_avals:
        raise Inapplicable("law: expected a result that can be differentiated, got none")
    gradient: Any = make_jaxpr(grad(loss, tuple(range(len(leaves)))))(*leaves)
    if any([eqn.params.get("check_vma") is False or "devices" in eqn.params for eqn in all_equations(primal.jaxpr)]):
        raise Inapplicable("law: expected types that say what varies, got a call for devices without")
    moving = equations_of(primal, MOVING)
    # A value meets many others as one, which is cast once.
    meetings = [*{(eqn.invars[0], eqn.params["axis_name"]): eqn for eqn in equations_of(primal, ("pvary",))}.values()]
    found = equations_of(gradient, MOVING)
    for what, got, most in (
        ("collectives", len(found), 2 * len(moving) + len(meetings)),
        ("bytes in collectives", moved_bytes(found), 2 * moved_bytes(moving) + moved_bytes(meetings)),
    ):
        if got > most:
            yield Fault(
                f"the gradient has {got} {what}, of a function with {len(moving)} collectives of {moved_bytes(moving)} "
                f"bytes and {len(meetings)} meetings of {moved_bytes(meetings)} bytes {plan.text}",
                str(gradient),
            )
