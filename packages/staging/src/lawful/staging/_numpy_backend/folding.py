"""Constant folding: small values that depend on no argument, such as the mask of a triangle, are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful.core import Jaxpr, JaxprEqn, Literal, Var, eval_trace, jaxprs_in_params, set_current

#: The elements of all folded values of a program, which take memory for as long as the program is kept.
_MOST_ELEMENTS: Final = 16_384


def folded_values(jaxpr: Jaxpr, function_of: Callable[[JaxprEqn], Callable[..., Any]]) -> dict[Var, Any]:
    """Returns the values of the variables that depend on no argument, arrays read-only.

    Args:
      jaxpr: a program.
      function_of: returns the function that evaluates an equation by NumPy.

    An equation that warns or raises an error is left to the program, which does so in each call.
    """
    known: dict[Var, Any] = {}
    left = _MOST_ELEMENTS
    for eqn in jaxpr.eqns:
        if all([type(atom) is Literal or atom in known for atom in eqn.invars]) and _is_foldable(eqn, left):
            operands = [atom.val if type(atom) is Literal else known[atom] for atom in eqn.invars]
            try:
                with np.errstate(all="raise"), set_current(eval_trace):
                    value = function_of(eqn)(*operands)
            except Exception:  # a warning of NumPy or an error of a rule, which the program repeats in each call
                continue
            if type(value) is np.ndarray:
                value = value.view()
                value.flags.writeable = False
            known[eqn.outvars[0]] = value
            left -= np.size(value)
    return known


def _is_foldable(eqn: JaxprEqn, most: int) -> bool:
    primitive = eqn.primitive
    return (
        primitive.pure_rules
        and not primitive.effectful
        and not primitive.multiple_results
        and eqn.outvars[0].aval.size <= most
        and not any([True for _ in jaxprs_in_params(eqn.params)])
    )
