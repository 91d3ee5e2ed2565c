"""``scan`` under a policy of ``checkpoint``: the saveable values of each iteration are stacked like results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.control_flow._loops.bodies import rearranged, split_list, stack_aval
from lawful.core import ClosedJaxpr, JaxprEqn, Var


def cut_scan(cut: Callable[[ClosedJaxpr], Any], eqn: JaxprEqn) -> tuple[JaxprEqn, JaxprEqn, list[Var]]:
    """The rule in the slot ``"checkpoint"``: see ``lawful.autodiff._checkpoint.rematerialization.CutRule``."""
    params = eqn.params
    parts = cut(params["jaxpr"])
    if not parts.count:
        return eqn, eqn, []
    new = [Var(stack_aval(aval, params["length"])) for aval in parts.keeping.out_avals[-parts.count :]]
    saved, inputs = split_list(range(len(parts.again.in_avals)), (parts.count,))
    again = rearranged(parts.again, (*inputs, *saved))
    return (
        eqn.replace(outvars=[*eqn.outvars, *new], params={**params, "jaxpr": parts.keeping}),
        eqn.replace(invars=[*eqn.invars, *new], params={**params, "jaxpr": again}),
        new,
    )
