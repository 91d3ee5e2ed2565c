"""``batched_cond_p``: the primitive of a choice that each element of a batch makes for itself.

It is a call whose function computes all branches and selects, and whose rule differentiates another program of the same
value, which is guarded: there a branch is not evaluated at elements that do not take it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful.core import ClosedJaxpr, Zero, eval_closed_jaxpr, get_aval
from lawful.custom_rules import CallRules, custom_call

Derivative = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]

batched_cond_p: Final = custom_call("batched_cond")


def bind_batched_cond(program: ClosedJaxpr, derivative: Derivative, operands: Sequence[Any]) -> list[Any]:
    """Binds a program of batches with its derivative, of primals and tangents."""
    rules = CallRules(("batched_cond", program), jvp=derivative)
    outs: list[Any] = batched_cond_p.bind(*operands, name="batched_cond", rules=rules, jaxpr=program)
    return outs


@batched_cond_p.def_impl
def _impl(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    with np.errstate(all="ignore"):  # at elements that do not take a branch
        return eval_closed_jaxpr(jaxpr, *args)


@batched_cond_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, rules: CallRules, **_: Any) -> tuple[list[Any], list[Any]]:
    assert rules.jvp is not None
    return rules.jvp(primals, tangents)


@batched_cond_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, rules: CallRules, **_: Any
) -> list[Any]:
    # The unknown part of a tangent is linear, and will be transposed.
    assert rules.jvp is not None
    return rules.jvp(args, [Zero(get_aval(x).to_tangent_aval()) for x in args])[0]


batched_cond_p.declare_absent("transpose", "a linear program has the program that it stands for")
