"""Two systems are compared by what both have, and a disagreement is found wherever it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lawful import ops, tree
from lawful.laws import Case, LawViolation, Program, compare_systems, generation_for, programs
from lawful.laws.systems import Lawful, lawful

CASE = Case.of(lambda x: {"p": ops.sin(x) * x}, np.array([0.5, 1.0]))
WORDS = {
    "jvp": "jvp(f, x, v)",
    "linearize": "linearize(f, x) and its derivative of v",
    "vjp": "vjp(f, x) and its derivative of w",
    "grad": "grad(x ↦ ⟨w, f(x)⟩)(x)",
    "jit": "jit(f)(x)",
    "vmap": "vmap(f)(batch of x)",
}


def doubled(value: Any) -> Any:
    return tree.map(lambda x: ops.mul(x, 2.0), value)


@given(programs())
def test_compare_systems_system_agrees_with_itself(program: Program) -> None:
    compare_systems(lawful, Lawful(), program)


@pytest.mark.parametrize("method", ["jvp", "linearize", "vjp"])
def test_compare_systems_wrong_primal_result_is_found(method: str) -> None:
    right: Callable[..., Any] = getattr(Lawful, method)

    def wrong(self: Lawful, *args: Any) -> Any:
        out, other = right(self, *args)
        return doubled(out), other

    _see_disagreement(method, wrong)


@pytest.mark.parametrize("method", ["grad", "jit", "vmap"])
def test_compare_systems_wrong_function_is_found(method: str) -> None:
    right: Callable[..., Any] = getattr(Lawful, method)

    def wrong(self: Lawful, *args: Any) -> Any:
        function = right(self, *args)
        return lambda *xs: doubled(function(*xs))

    _see_disagreement(method, wrong)


def _see_disagreement(method: str, wrong: Callable[..., Any]) -> None:
    system = type("Wrong", (Lawful,), {method: wrong, "name": "wrong"})()
    for seed in range(3):
        with pytest.raises(LawViolation) as raised:
            compare_systems(lawful, system, CASE, seed=seed)
    assert f"lawful and wrong do not agree about {WORDS[method]}" in str(raised.value)
    assert raised.value.size is not None


def test_compare_systems_what_one_system_lacks_is_not_compared() -> None:
    def wrong(self: Lawful, *args: Any) -> Any:
        raise AssertionError("vmap was called")

    system = type("Wrong", (Lawful,), {"vmap": wrong, "absent": {"vmap": "it is broken"}})()
    compare_systems(lawful, system, CASE)


def test_compare_systems_programs_for_lawful_are_all_programs() -> None:
    assert generation_for(lawful).catalogue is None


def test_compare_systems_draws_only_what_both_have() -> None:
    class Functions:
        sin, mul, add, reshape = ops.sin, ops.mul, ops.add, ops.reshape

    scope = {**Lawful.scope, "ops": Functions}
    absent = {"jit": "", "weak types": "", "complex": "", "cond": ""}
    system = type("Small", (Lawful,), {"scope": scope, "absent": absent, "excluded": {"ops.add": "it is broken"}})()
    chosen = generation_for(system, dtypes=tuple(map(np.dtype, ("float32", "float64", "complex128"))))
    assert chosen.dtypes == (np.dtype("float64"),)
    assert not chosen.weak
    assert chosen.catalogue is not None
    assert [function.text for function in chosen.catalogue.functions] == ["ops.mul", "ops.sin"]
    assert "reshape" in [primitive.name for primitive in chosen.catalogue.primitives]
    assert {"jit", "cond"}.isdisjoint(chosen.forms)
    assert "vmap" in chosen.forms
