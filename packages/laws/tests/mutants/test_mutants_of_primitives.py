"""The laws of primitives reject wrong rules."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lawful import laws as laws_module
from lawful import ops
from lawful.core import Primitive, ShapedArray, Tracer, UndefinedPrimal
from lawful.laws import Inapplicable, LawViolation, RandomChoose, draw_call, laws
from lawful.laws.systems import lawful

pytestmark = pytest.mark.once

Rule = Callable[..., Any]


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Primitive, str, Rule], None]:
    """``mutate(primitive, slot, rule)`` puts a wrong rule into a slot."""
    return lambda primitive, slot, rule: monkeypatch.setitem(primitive.rules, slot, rule)


Mutate = Callable[[Primitive, str, Rule], None]


# Primitives


def violates(name: str, primitive: Primitive, **options: Any) -> None:
    """Fails unless a law rejects some call of a primitive."""
    for seed in range(30):
        call = draw_call(primitive, RandomChoose(seed, laws_module.usual_dtypes))
        try:
            laws[name](lawful, call, **options)
        except LawViolation:
            return
        except Inapplicable:  # this call has nothing to differentiate
            continue
    pytest.fail(f"law_{name} accepts the mutant of {primitive}")


def test_reference_rejects_another_function(mutate: Mutate) -> None:
    mutate(ops.sin_p, "impl", np.cos)
    violates("primitive_reference", ops.sin_p)


def test_reference_rejects_a_wrong_type_rule(mutate: Mutate) -> None:
    mutate(ops.sin_p, "abstract_eval", lambda x: ShapedArray(x.shape, x.dtype, weak_type=True))
    violates("primitive_reference", ops.sin_p)


def test_reference_rejects_a_backend_that_is_wrong(mutate: Mutate) -> None:
    mutate(ops.sin_p, "numpy", lambda avals, compile: lambda x: np.sin(x) + np.asarray(1, x.dtype))
    violates("primitive_reference", ops.sin_p)


def test_primitive_specialised_rejects_memory_order(mutate: Mutate) -> None:
    """The mutant takes the order of elements in memory for their order in the array."""

    def in_memory(avals: Any, compile: Any, *, axes: tuple[int, ...]) -> Any:
        return lambda x: np.reshape(np.ravel(x, "K"), np.shape(x)).sum(axes, dtype=x.dtype)

    mutate(ops.reduce_sum_p, "numpy", in_memory)
    violates("primitive_specialised", ops.reduce_sum_p)


def test_transpose_rejects_a_wrong_permutation(mutate: Mutate) -> None:
    mutate(ops.rev_p, "transpose", lambda ct, x, dimensions: [ct])
    violates("primitive_transpose", ops.rev_p)


def test_transpose_rejects_a_declaration_that_is_not_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ops.square_p.declaration is not None
    monkeypatch.setattr(ops.square_p, "declaration", replace(ops.square_p.declaration, linear=((0,),)))
    violates("primitive_transpose", ops.square_p)


def test_algebra_rejects_a_subtraction_that_commutes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ops.sub_p.declaration is not None
    monkeypatch.setattr(ops.sub_p, "declaration", replace(ops.sub_p.declaration, commutes=True))
    violates("primitive_algebra", ops.sub_p)


@pytest.mark.parametrize("change", [{"associates": True}, {"unit": 0.0}])
def test_algebra_rejects_a_wrong_unit_and_association(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ops.div_p.declaration is not None
    monkeypatch.setattr(ops.div_p, "declaration", replace(ops.div_p.declaration, **change))
    violates("primitive_algebra", ops.div_p)


def test_types_reject_a_tangent_of_another_dtype(mutate: Mutate) -> None:
    mutate(ops.sin_p, "jvp", lambda primals, tangents: (ops.sin(*primals), np.zeros(np.shape(primals[0]))))
    violates("primitive_typing", ops.sin_p)


def test_primitive_traced_rules_rejects_another_rule_at_types(mutate: Mutate) -> None:
    right = ops.sin_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any) -> Any:
        out, tangent = right(primals, tangents)
        return out, ops.neg(tangent) if isinstance(primals[0], Tracer) else tangent

    mutate(ops.sin_p, "jvp", wrong)
    violates("primitive_traced_rules", ops.sin_p)


def test_special_points_reject_a_slope_of_ties(mutate: Mutate) -> None:
    def wrong(primals: Any, tangents: Any) -> Any:
        return ops.sin(*primals), ops.mul(tangents[0], ops.where(ops.eq(primals[0], 0.0), 0.0, ops.cos(primals[0])))

    mutate(ops.sin_p, "jvp", wrong)
    violates("primitive_special_points", ops.sin_p)


def test_special_points_reject_an_undeclared_kink(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ops.max_p.declaration is not None
    monkeypatch.setattr(ops.max_p, "declaration", replace(ops.max_p.declaration, excluded=()))
    violates("primitive_special_points", ops.max_p)


def test_special_transposes_reject_a_forgotten_zero(mutate: Mutate) -> None:
    right = ops.mul_p.rules["transpose"]

    def wrong(ct: Any, x: Any, y: Any) -> Any:
        fixed = [z if isinstance(z, UndefinedPrimal) else ops.where(ops.eq(z, 0.0), 1.0, z) for z in (x, y)]
        return right(ct, *fixed)

    mutate(ops.mul_p, "transpose", wrong)
    violates("primitive_special_transpose", ops.mul_p)


def test_kinds_reject_a_type_rule_that_keeps_integers(mutate: Mutate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sine of 1 is 0 where the result is an integer."""
    mutate(ops.sin_p, "abstract_eval", lambda x: x)
    monkeypatch.setattr(ops.sin, "promote_as", np.positive)
    violates("kinds_agree", ops.sin_p)
