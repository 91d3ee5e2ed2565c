"""The law of Taylor mode: of every differentiable op, and of programs; with mutants that it must reject."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import cond_p
from lawful.core import Primitive
from lawful.laws import (
    Case,
    Inapplicable,
    LawViolation,
    Program,
    declared_primitives,
    law_jet_is_nested_jvp,
    primitive_calls,
    programs,
    quick,
    usual_dtypes,
)
from lawful.laws.systems import lawful
from lawful.taylor import _general_rule, _structured_rules

Rule = Callable[..., Any]

differentiable = [p for p in declared_primitives() if p.declaration is not None and p.declaration.differentiable]
few = settings(max_examples=max(settings.default.max_examples // 4, 2))


@pytest.mark.parametrize("primitive", differentiable, ids=lambda p: p.name)
@few
@given(st.data())
def test_jet_of_a_primitive(primitive: Primitive, data: st.DataObject) -> None:
    call = data.draw(primitive_calls(primitive, usual_dtypes))
    with suppress(Inapplicable):  # of integers, or of matrices that its solver refuses
        law_jet_is_nested_jvp(lawful, call)


@few
@given(programs(dtypes=usual_dtypes, smooth=False))
def test_jet_of_a_program(program: Program) -> None:
    with suppress(Inapplicable):
        law_jet_is_nested_jvp(lawful, program, effort=quick)


FUNCTIONS: dict[str, tuple[Rule, np.ndarray[Any, Any]]] = {
    "complex sign": (ops.sign, np.array([0.5 + 1.0j, -1.25j])),
    "complex sinc": (lnp.sinc, np.array([0.5 + 1.0j, -1.25j, 0.0])),
    "hypot": (lambda x: lnp.hypot(x, x[::-1]), np.array([0.5, -1.25, 2.0])),
    "pinv": (lnp.linalg.pinv, np.eye(3)),
    "pinv of columns": (lnp.linalg.pinv, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
    "square of abs": (lambda x: ops.abs(x) ** 2, np.array([0.5, -1.25, 2.0])),
    "where": (lambda x: lnp.where(x > 0, lnp.sqrt(lnp.where(x > 0, x, 1.0)), 0.0), np.array([0.5, -1.25, 2.0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jet_of_a_function(name: str) -> None:
    function, example = FUNCTIONS[name]
    for seed in range(8):
        law_jet_is_nested_jvp(lawful, Case.of(function, example, seed=seed))


def rejects(function: Rule, *args: Any) -> bool:
    for seed in range(30):
        try:
            law_jet_is_nested_jvp(lawful, Case.of(function, *args, seed=seed))
        except LawViolation:
            return True
    return False


x = np.array([0.5, -1.25, 2.0])
z = np.array([0.5 + 1.0j, -1.25j])
MUTANTS: dict[str, tuple[Primitive, Rule, Rule, tuple[Any, ...]]] = {
    "a lost factor": (ops.exp_p, lambda args: [ops.exp(args[0][0]), *args[0][1:]], ops.exp, (x,)),
    "a product without its middle": (
        ops.mul_p,
        lambda args: [
            args[0][0] * args[1][0],
            *[_sum(a, b, args) for a, b in zip(*[s[1:] for s in args], strict=True)],
        ],
        ops.mul,
        (x, x),
    ),
    "real abs with the sign of zero": (
        ops.abs_p,
        lambda args: [ops.abs(args[0][0]), *[None if c is None else c * ops.sign(args[0][0]) for c in args[0][1:]]],
        ops.abs,
        (x,),
    ),
    "a constant complex sign": (
        ops.sign_p,
        lambda args: [ops.sign(args[0][0]), *[None] * (len(args[0]) - 1)],
        ops.sign,
        (z,),
    ),
}


def _sum(a: Any, b: Any, args: Any) -> Any:
    left = 0.0 if b is None else args[0][0] * b
    return left if a is None else left + a * args[1][0]


@pytest.mark.parametrize("name", MUTANTS)
def test_jet_law_rejects_a_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    primitive, rule, function, args = MUTANTS[name]
    assert not rejects(function, *args)
    monkeypatch.setitem(primitive.rules, "jet", rule)
    assert rejects(function, *args)


def test_jet_law_rejects_symbolic_zeros_as_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero tangents as arrays would meet an infinite derivative at a tie of singular values."""

    def function(x: Any) -> Any:
        u, s, vt = ops.svd(stop_gradient(x))
        return ops.dot(ops.dot(u, x), vt) + s

    assert not rejects(function, np.eye(2))
    right = _general_rule.derivatives

    def wrong(along: Any, curve: Any, order: int) -> Any:
        first, *rest = right(along, curve, order)
        return [first, *[[0.0 * y if d is None else d for y, d in zip(first, row, strict=True)] for row in rest]]

    monkeypatch.setattr(_general_rule, "derivatives", wrong)
    assert rejects(function, np.eye(2))


def test_jet_law_rejects_a_cond_of_the_other_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.control_flow import cond

    def function(x: Any) -> Any:
        return cond(x[0] > 0, ops.sin, ops.exp, x)

    assert not rejects(function, x)
    right = _structured_rules._cond
    monkeypatch.setitem(cond_p.rules, "jet", lambda args, branches: right(args, branches=branches[::-1]))
    assert rejects(function, x)


def test_jet_law_needs_no_taylor() -> None:
    """A system without Taylor mode, as lawful without this package, says so."""
    from lawful.laws.systems import Lawful

    class Without(Lawful):
        absent = {"jet": "lawful-taylor is not installed"}  # noqa: RUF012

        def __init__(self) -> None:
            self.backend, self.backends = "numpy", ("numpy",)

    with pytest.raises(Inapplicable, match="lawful-taylor is not installed"):
        law_jet_is_nested_jvp(Without(), Case.of(ops.sin, x))
