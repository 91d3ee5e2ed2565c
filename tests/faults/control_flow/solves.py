"""Faults in ``custom_linear_solve`` and ``custom_root``: wrong systems for the derivatives."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.control_flow import linear_solve_p, root_p
from lawful.core import Zero, get_aval
from tests.faults._fault import Fault, Rule, met_by, rule_fault, with_forms


def _matrix_constant(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, counts: Any, **jaxprs: Any) -> Any:
        fixed = [Zero(get_aval(x).to_tangent_aval()) for x in primals[: counts[0]]]
        return right(primals, [*fixed, *tangents[counts[0] :]], counts=counts, **jaxprs)

    return jvp


def _not_transposed(right: Rule) -> Rule:
    def transpose(cts: Any, *args: Any, counts: Any, matvec: Any, solve: Any, **_: Any) -> Any:
        first, _, third, _ = counts
        consts = [*args[:first], *args[sum(counts[:2]) : sum(counts[:3])]]
        found = right(
            cts, *args[:first], *args[:first], *consts[first:], *consts[first:], *args[sum(counts) :],
            counts=(first, first, third, third), matvec=matvec, vecmat=matvec, solve=solve, transpose_solve=solve,
        )  # fmt: skip
        return [*(None,) * sum(counts), *found[2 * (first + third) :]]

    return transpose


def _negated(right: Rule) -> Rule:
    def jvp(*args: Any, **params: Any) -> Any:
        outs, dots = right(*args, **params)
        return outs, [t if type(t) is Zero else ops.neg(t) for t in dots]

    return jvp


def _of_the_guess(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, counts: Any, **jaxprs: Any) -> Any:
        outs, dots = right(primals, tangents, counts=counts, **jaxprs)
        return outs, [ops.add_tangents(*pair) for pair in zip(dots, tangents[sum(counts) :], strict=True)]

    return jvp


solve_faults: tuple[Fault, ...] = met_by(
    with_forms("with_linear_solve", "with_root", "jit", "vmap", "grad"),
    rule_fault("a solve drops the derivative by its matrix", "missing term", linear_solve_p, "jvp", _matrix_constant),
    rule_fault("a solve is transposed to itself", "operands swapped", linear_solve_p, "transpose", _not_transposed),
    rule_fault("the derivative of a root is negated", "wrong sign", root_p, "jvp", _negated),
    rule_fault("the derivative by the guess is added to that of a root", "wrong term", root_p, "jvp", _of_the_guess),
)
