"""Faults in jvp rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import Zero, get_aval
from lawful.ops._support.structural import instantiate
from tests.faults._fault import Fault, Rule, derivatives, instead, rule_fault, tangent


def _ones_for_zero(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        ones = [ops.add(instantiate(t), 1) if type(t) is Zero else t for t in tangents]
        return right(primals, tangents) if all(type(t) is Zero for t in tangents) else right(primals, ones)

    return jvp


def _zero_if_any_is(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        ans, t = right(primals, tangents)
        return ans, Zero(get_aval(ans).to_tangent_aval()) if any(type(t) is Zero for t in tangents) else t

    return jvp


def _wrong_primal(right: Rule) -> Rule:
    return lambda primals, tangents: (ops.sinh(*primals), right(primals, tangents)[1])


def _product_rule_of_a_sum(primals: Any, tangents: Any, *, axes: Any) -> Any:
    ans = ops.reduce_prod_p.bind(*primals, axes=axes)
    (t,) = tangents
    if type(t) is Zero:
        return ans, Zero(_aval(ans))
    return ans, ops.mul(ans, ops.reduce_sum_p.bind(t, axes=axes))


def _mean_of_all(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, axes: Any) -> Any:
        ans, t = right(primals, tangents, axes=axes)
        if type(t) is Zero:
            return ans, t
        return ans, ops.mul(ops.reduce_sum_p.bind(tangents[0], axes=axes), 1 / max(primals[0].size, 1))

    return jvp


def _narrow_if_weak(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any) -> Any:
        ans, t = right(primals, tangents)
        is_weak = any([get_aval(x).weak_type for x in primals])
        return ans, ops.convert_element_type(t, np.float32) if type(t) is not Zero and is_weak else t

    return jvp


def _without_exclusions(patch: pytest.MonkeyPatch) -> None:
    assert ops.max_p.declaration is not None
    patch.setattr(ops.max_p, "declaration", replace(ops.max_p.declaration, excluded=()))


def _other_end(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, axis: int, reverse: bool) -> Any:
        return right(primals, primals, axis=axis, reverse=reverse)[0], right(
            primals, tangents, axis=axis, reverse=not reverse
        )[1]

    return jvp


def _one_place_late(t: Any, ans: Any, x: Any) -> Any:
    first = ops.slice_in_dim(t, 0, 1)
    return ops.concatenate([first, ops.slice_in_dim(t, 0, -1)], 0) if t.shape[0] > 1 else t


def _swapped_cases(right: Rule) -> Rule:
    return lambda primals, tangents: right(primals, [tangents[0], *reversed(tangents[1:])])


def _first_term_only(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        if any(type(t) is Zero for t in tangents):
            return right(primals, tangents, **params)
        return right(primals, [tangents[0], Zero(_aval(tangents[1]))], **params)

    return jvp


def _aval(x: Any) -> Any:
    return get_aval(x).to_tangent_aval()


def _old_dtype(primals: Any, tangents: Any, **params: Any) -> Any:
    ans = ops.convert_element_type_p.bind(*primals, **params)
    (t,) = tangents
    return ans, Zero(_aval(ans)) if type(t) is Zero or _aval(ans).dtype.kind == "V" else t


def _exponent_too_large(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, *, y: int) -> Any:
        ans, t = right(primals, tangents, y=y)
        return ans, t if type(t) is Zero else ops.mul(t, primals[0])

    return jvp


derivative_faults = (
    rule_fault(
        "the derivative of sin is negated", "wrong sign", ops.sin_p, "jvp", tangent(lambda t, ans, x: ops.neg(t))
    ),
    rule_fault("a product with a weak number has a narrow tangent", "dtype lost", ops.mul_p, "jvp", _narrow_if_weak),
    rule_fault(
        "the derivative of cos lacks its sign",
        "wrong sign",
        ops.cos_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.mul(t, ops.sin(x))),
    ),
    rule_fault(
        "the product rule lacks its second term",
        "missing term",
        ops.mul_p,
        "jvp",
        derivatives(lambda t, ans, x, y: ops.mul(t, y), None),
    ),
    rule_fault(
        "the derivative of pow by the exponent is missing",
        "missing term",
        ops.pow_p,
        "jvp",
        derivatives(lambda t, ans, x, y: ops.mul(t, ops.mul(y, ops.pow(x, ops.sub(y, 1.0)))), None),
    ),
    rule_fault(
        "the product rule of dot_general lacks its second term",
        "missing term",
        ops.dot_general_p,
        "jvp",
        _first_term_only,
    ),
    rule_fault(
        "the derivative of square lacks the factor 2",
        "wrong factor",
        ops.square_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.mul(t, x)),
    ),
    rule_fault(
        "the derivative of exp2 lacks log 2",
        "wrong factor",
        ops.exp2_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.mul(t, ans)),
    ),
    rule_fault(
        "the derivative of logistic lacks the factor of the result",
        "wrong factor",
        ops.logistic_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.mul(t, ops.sub(1.0, ans))),
    ),
    rule_fault(
        "the derivative of integer_pow has the exponent of the result",
        "off by one",
        ops.integer_pow_p,
        "jvp",
        _exponent_too_large,
    ),
    rule_fault(
        "the derivative of div by the divisor lacks its sign",
        "wrong sign",
        ops.div_p,
        "jvp",
        derivatives(lambda t, ans, x, y: ops.div(t, y), lambda t, ans, x, y: ops.div(ops.mul(t, ans), y)),
    ),
    rule_fault(
        "the derivative of log is taken at the result",
        "wrong operand",
        ops.log_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.div(t, ans)),
    ),
    rule_fault(
        "the derivatives of atan2 are swapped",
        "operands swapped",
        ops.atan2_p,
        "jvp",
        derivatives(
            lambda t, ans, y, x: ops.mul(t, ops.div(ops.neg(y), ops.add(ops.square(x), ops.square(y)))),
            lambda t, ans, y, x: ops.mul(t, ops.div(x, ops.add(ops.square(x), ops.square(y)))),
        ),
    ),
    rule_fault("the jvp of cosh gives sinh as its value", "wrong primal", ops.cosh_p, "jvp", _wrong_primal),
    rule_fault("a zero tangent of sub counts as one", "zero tangent taken for one", ops.sub_p, "jvp", _ones_for_zero),
    rule_fault(
        "a zero tangent of max makes the others zero", "zero tangent ignored", ops.max_p, "jvp", _zero_if_any_is
    ),
    rule_fault(
        "the tangent of tanh is always of 64 bits",
        "dtype lost",
        ops.tanh_p,
        "jvp",
        tangent(lambda t, ans, x: ops.convert_element_type(t, np.float64 if t.dtype.kind != "c" else np.complex128)),
    ),
    rule_fault(
        "the tangent of a conversion keeps its dtype",
        "dtype lost",
        ops.convert_element_type_p,
        "jvp",
        instead(_old_dtype),
    ),
    rule_fault(
        "the tangent of conj is not conjugated",
        "dropped conjugate",
        ops.conj_p,
        "jvp",
        derivatives(lambda t, ans, x: t),
    ),
    rule_fault(
        "the tangent of imag is the real part",
        "wrong part",
        ops.imag_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.real(t)),
    ),
    rule_fault(
        "the derivative of abs lacks a conjugate",
        "dropped conjugate",
        ops.abs_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.real(ops.div(ops.mul(x, t), ans))),
    ),
    rule_fault(
        "the derivative of clamp is one beyond its bounds",
        "wrong side of a kink",
        ops.clamp_p,
        "jvp",
        derivatives(None, lambda t, ans, low, x, high: t, None),
    ),
    rule_fault(
        "the derivative of min is that of the larger one",
        "wrong side of a kink",
        ops.min_p,
        "jvp",
        derivatives(
            lambda t, ans, x, y: ops.where(ops.lt(x, y), 0, t), lambda t, ans, x, y: ops.where(ops.lt(x, y), t, 0)
        ),
    ),
    rule_fault(
        "the derivative of floor is one",
        "derivative of a constant",
        ops.floor_p,
        "jvp",
        derivatives(lambda t, ans, x: t),
    ),
    rule_fault(
        "the derivative of reduce_prod is that of a sum",
        "wrong factor",
        ops.reduce_prod_p,
        "jvp",
        instead(_product_rule_of_a_sum),
    ),
    rule_fault(
        "the derivative of reduce_max is shared by all elements", "wrong element", ops.reduce_max_p, "jvp", _mean_of_all
    ),
    rule_fault("the tangent of cumsum is summed from the other end", "reversed order", ops.cumsum_p, "jvp", _other_end),
    rule_fault("the tangent of rev is one index late", "off by one", ops.rev_p, "jvp", tangent(_one_place_late)),
    rule_fault("the tangents of select_n are swapped", "wrong branch", ops.select_n_p, "jvp", _swapped_cases),
    rule_fault(
        "the tangent of neg is affine", "not linear", ops.neg_p, "jvp", tangent(lambda t, ans, x: ops.add(t, 0.5))
    ),
    rule_fault(
        "the derivative of sin counts as a constant",
        "second derivative lost",
        ops.sin_p,
        "jvp",
        derivatives(lambda t, ans, x: ops.mul(t, stop_gradient(ops.cos(x)))),
    ),
    rule_fault(
        "the derivative of sin is 0 at 0",
        "wrong at one point",
        ops.sin_p,
        "jvp",
        tangent(lambda t, ans, x: ops.mul(t, ops.where(ops.eq(x, 0.0), 0.0, ops.cos(x)))),
        sources=("sin, special", "sin"),
    ),
    rule_fault(
        "the derivative of xlogy is 0 / 0 where both are 0",
        "wrong at one point",
        ops.xlogy_p,
        "jvp",
        derivatives(lambda t, ans, x, y: ops.mul(t, ops.log(y)), lambda t, ans, x, y: ops.mul(t, ops.div(x, y))),
        sources=("xlogy, special", "xlogy"),
    ),
    Fault(
        "the kink of max is not declared",
        "undeclared kink",
        "declaration of `max`",
        _without_exclusions,
        ("max, special", "max"),
    ),
    Fault(
        "sin of integers is an integer",
        "out-of-place kind",
        "promotion of `sin`",
        lambda patch: [patch.setattr(each, "promote_as", np.positive) for each in (ops.sin, ops.sin.as_function)],
        ("sin",),
        only_fast=True,  # without NumPy's function it refuses integers, the same everywhere
    ),
)
