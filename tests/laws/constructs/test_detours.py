"""Functions through a solver, a linear call or Python mean the same as without, under every law."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import ops
from lawful.autodiff import checkpoint
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root
from lawful.core import get_aval
from lawful.custom_rules import linear_call
from lawful.laws import (
    Case,
    Program,
    check,
    holds,
    law_commutation,
    law_linearize_is_jvp,
    programs,
    quick,
    usual_dtypes,
)
from lawful.laws.systems import (
    Lawful,
    with_callback,
    with_closure_convert,
    with_debug,
    with_linear_call,
    with_linear_solve,
    with_root,
    with_rules,
)
from lawful.staging import jit
from tests.laws._held import hold_all, parts, share

Function = Callable[..., Any]

DETOURS: dict[str, Callable[[Function], Function]] = {
    "with_callback": with_callback,
    "with_closure_convert": with_closure_convert,
    "with_debug": with_debug,
    "with_linear_call": with_linear_call,
    "with_linear_solve": with_linear_solve,
    "with_root": with_root,
    "with_rules": lambda function: with_rules(function, ("vjp", "batch")),
}
FORMS = tuple(DETOURS)


@share(5)
@given(programs(forms=(*FORMS, "jit", "vmap", "cond", "scan", "checkpoint"), max_equations=6, max_depth=3))
def test_programs_with_detours_obey_every_law(program: Program) -> None:
    hold_all(program)


@share(5)
@given(programs(forms=(*FORMS, "jvp", "vjp", "grad", "linearize"), dtypes=usual_dtypes, smooth=False))
def test_detours_within_derivatives_obey_every_law(program: Program) -> None:
    hold_all(program)


@share(5)
@given(programs(forms=FORMS, max_equations=5), st.permutations(("jit", "vmap", "vjp")))
def test_programs_with_detours_commute_with_compilation_by_xla(program: Program, stack: list[str]) -> None:
    holds(law_commutation, Lawful("xla"), program, stack=stack, effort=quick)


@pytest.mark.parametrize("name", FORMS)
def test_detours_nests_obey_the_laws_of_their_transformations(name: str) -> None:
    """A function that takes a detour within others, compiled, mapped, chosen and rematerialised."""
    detour = DETOURS[name]
    inner = detour(parts)

    def nest(x: Any, y: Any) -> Any:
        closing = detour(lambda z: ops.cos(z) * x)
        compiled = jit(lambda a: inner(a, closing(a))["a"], backend="numpy")(y)
        total = ops.reduce_sum(x * y, tuple(range(get_aval(x * y).ndim)))
        chosen = cond(total > 0.2, lambda: inner(x, y)["a"], lambda: checkpoint(closing)(y))
        return detour(lambda a: vmap(closing)(a[None])[0] * compiled)(x) + chosen

    asked = [
        "jit_is_eager",
        "jvp_finite_differences",
        "linearize_is_jvp",
        "vjp_transpose",
        "vmap_is_loop",
        "second_order",
    ]
    check(nest, np.float64(0.3), np.float64(1.2), effort=quick, laws=asked, raise_on_failure=True)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "float16", "bfloat16"])
def test_detours_results_are_those_without(name: str, dtype: str) -> None:
    def function(x: Any, n: Any) -> Any:
        return [ops.sin(x) * x, n, ops.mul(x, 0.5), {"n": n > 1}]

    x = ops.convert_element_type(np.linspace(-1.0, 1.0, 6).reshape(2, 3), dtype)
    want, got = function(x, 3), DETOURS[name](function)(x, 3)
    for left, right in ((want[0], got[0]), (want[1], got[1]), (want[2], got[2]), (want[3]["n"], got[3]["n"])):
        assert get_aval(left) == get_aval(right)
        np.testing.assert_allclose(
            np.asarray(left, np.complex128),
            np.asarray(right, np.complex128),
            rtol=0.05 if dtype == "bfloat16" else 4e-3,
        )


# Solvers and linear calls with a fault, which a law finds.


def test_detours_transposed_solver_of_another_matrix_is_found() -> None:
    def solved(a: Any, b: Any) -> Any:
        def matvec(x: Any) -> Any:
            return a * ops.rev(x, (0,))

        def solve(_: Any, b: Any) -> Any:
            return ops.rev(b / a, (0,))

        return custom_linear_solve(matvec, b, solve, solve)  # the matrix is not its own transpose

    report = check(solved, np.array([1.0, 2.0]), np.array([0.5, 3.0]), effort=quick, laws=["vjp_transpose"])
    assert {failure.law for failure in report.failures} >= {"vjp_transpose"}


def test_detours_tangent_solver_of_another_function_is_found() -> None:
    def root(a: Any) -> Any:
        return custom_root(lambda x: x * x - a, ops.sqrt(a), lambda f, x: x, lambda g, y: y / (1.1 * g(y * 0 + 1)))

    report = check(root, np.array([1.5, 2.0]), effort=quick, laws=["jvp_finite_differences"])
    assert {failure.law for failure in report.failures} >= {"jvp_finite_differences"}


def test_detours_linear_call_that_is_not_its_transpose_is_found() -> None:
    def called(x: Any) -> Any:
        return linear_call(lambda _, v: v * 3.0, lambda _, ct: ct * 2.0, (), x)

    report = check(called, np.array([1.5, 2.0]), effort=quick, laws=["vjp_transpose"])
    assert {failure.law for failure in report.failures} >= {"vjp_transpose"}


def test_detours_zeros_in_place_of_a_tangent_are_no_primal_work() -> None:
    def reversed_pair(factor: Any, xs: Any) -> Any:
        return [factor * x[::-1] for x in xs]

    def transposed(factor: Any, cts: Any) -> Any:
        return [(factor * ct)[::-1] for ct in cts]

    def f(x: Any) -> Any:
        return linear_call(reversed_pair, transposed, 2.0, [x, np.array([3.0, 4.0])])[0]

    law_linearize_is_jvp(Lawful(), Case.of(f, np.array([1.0, 2.0])))
