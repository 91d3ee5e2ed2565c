"""Faults in rules of primitives for Python numbers alone, or for a Python number beside an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import UndefinedPrimal, Zero, get_aval
from tests.faults._fault import Fault, Rule, rule_fault


def are_weak(args: Any) -> bool:
    """Whether all arguments stand for Python numbers."""
    return all([(x.aval if type(x) is UndefinedPrimal else get_aval(x)).weak_type for x in args])


def _doubled_jvp(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        ans, t = right(primals, tangents)
        return ans, ops.mul(t, 2) if type(t) is not Zero and are_weak(primals) else t

    return jvp


def _lost_jvp(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        ans, t = right(primals, tangents)
        return ans, Zero(get_aval(ans).to_tangent_aval()) if are_weak(primals) else t

    return jvp


def _jvp_beside_an_array(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        swapped = are_weak(primals[1:]) and not are_weak(primals[:1])
        ans, t = right(primals, tangents)
        return ans, ops.neg(t) if type(t) is not Zero and swapped else t

    return jvp


def _negated_if_compiled(right: Rule) -> Rule:
    def specialised(avals: Any, compile: Any, **params: Any) -> Any:
        function = right(avals, compile, **params)
        return (lambda x: -function(x)) if all(aval.weak_type for aval in avals) else function

    return specialised


def _truncated(right: Rule) -> Rule:
    return lambda *args: float(np.float32(right(*args))) if are_weak(args) else right(*args)


def _strong_type(right: Rule) -> Rule:
    return lambda *avals: right(*avals).update(weak_type=False)


def _doubled_transpose(right: Rule) -> Rule:
    def transpose(ct: Any, *args: Any) -> Any:
        found = right(ct, *args)
        if not are_weak(args):
            return found
        return [y if y is None or type(y) is Zero else ops.mul(y, 2) for y in found]

    return transpose


def _swapped_in_a_batch(right: Rule) -> Rule:
    def batch(args: Any, dims: Any) -> Any:
        if any([get_aval(x).weak_type for x, dim in zip(args, dims, strict=True) if dim is None]):
            return right(args[::-1], dims[::-1])
        return right(args, dims)

    return batch


def _sources(name: str) -> tuple[str, ...]:
    return f"{name}, smooth", name, f"{name}, special"


weak_operand_faults: tuple[Fault, ...] = (
    rule_fault("the derivative of sin of Python numbers is doubled", "wrong factor", ops.sin_p, "jvp", _doubled_jvp),
    rule_fault("a Python number has no derivative by log1p", "missing term", ops.log1p_p, "jvp", _lost_jvp),
    rule_fault(
        "the derivative of atan2 by an array and a Python number is negated",
        "wrong sign",
        ops.atan2_p,
        "jvp",
        _jvp_beside_an_array,
        sources=_sources("atan2"),
    ),
    rule_fault(
        "compiled cosh of a Python number is negated",
        "wrong sign",
        ops.cosh_p,
        "numpy",
        _negated_if_compiled,
        sources=_sources("cosh"),
    ),
    rule_fault(
        "sqrt of a Python number is of 32 bits", "dtype lost", ops.sqrt_p, "impl", _truncated, sources=_sources("sqrt")
    ),
    rule_fault(
        "the type of sinh of a Python number is strong", "weak type lost", ops.sinh_p, "abstract_eval", _strong_type
    ),
    rule_fault(
        "the transpose of neg doubles the cotangent of a Python number",
        "wrong factor",
        ops.neg_p,
        "transpose",
        _doubled_transpose,
    ),
    rule_fault(
        "a batch of sub beside a Python number has its operands swapped",
        "operands swapped",
        ops.sub_p,
        "batch",
        _swapped_in_a_batch,
    ),
)
