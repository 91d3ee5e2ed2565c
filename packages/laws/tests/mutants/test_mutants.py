"""Every law has a mutant: a wrong rule, or a wrong transformation, that it must reject."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, settings

from lawful import ops, tree
from lawful.autodiff import _linearize, jvp_jaxpr, stop_gradient
from lawful.autodiff._fast import grad as fast_grad
from lawful.autodiff._fast import linearize, traced_rules
from lawful.core import ClosedJaxpr, Primitive
from lawful.core._fast import FastEvalTrace, replays
from lawful.core._jaxpr import memoization
from lawful.core._jaxpr import print as _print
from lawful.laws import Case, Inapplicable, LawViolation, Program, catalogue_of, laws, programs
from lawful.laws.systems import lawful
from lawful.staging import jit, jit_p
from lawful.staging._jit import entry as _jit_entry
from lawful.staging._jit.jit import JitFunction
from lawful.staging._numpy_backend.program import PythonProgram
from lawful.staging._passes import cse as _cse

pytestmark = pytest.mark.once

Rule = Callable[..., Any]

search = settings(
    max_examples=2000,
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
used = [ops.neg_p, ops.sin_p, ops.add_p, ops.mul_p, ops.reduce_sum_p, ops.transpose_p, ops.convert_element_type_p]


def counterexample(name: str, **options: Any) -> Program:
    """Returns a small program, of a few ops, for which a law does not hold, and does hold without the mutant."""

    def is_violated(program: Program) -> bool:
        try:
            laws[name](lawful, program, **options)
        except LawViolation:
            return True
        except Inapplicable:
            pass
        return False

    return find(programs(catalogue=catalogue_of(used), max_equations=5), is_violated, settings=search)


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Primitive, str, Rule], None]:
    """``mutate(primitive, slot, rule)`` puts a wrong rule into a slot."""
    return lambda primitive, slot, rule: monkeypatch.setitem(primitive.rules, slot, rule)


Mutate = Callable[[Primitive, str, Rule], None]


def test_finite_differences_reject_a_wrong_sign(mutate: Mutate) -> None:
    right = ops.sin_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any) -> Any:
        out, tangent = right(primals, tangents)
        return out, ops.neg(tangent)

    mutate(ops.sin_p, "jvp", wrong)
    assert counterexample("jvp_finite_differences").equation_count <= 3


def test_finite_differences_reject_a_missing_term(mutate: Mutate) -> None:
    mutate(ops.mul_p, "jvp", lambda primals, tangents: (ops.mul_p.bind(*primals), _first_term(primals, tangents)))
    assert counterexample("jvp_finite_differences").equation_count <= 3


def _first_term(primals: Any, tangents: Any) -> Any:
    from lawful.ops._support.structural import instantiate

    return ops.mul(instantiate(tangents[0]), primals[1])


def test_linearity_rejects_an_affine_rule(mutate: Mutate) -> None:
    mutate(ops.neg_p, "jvp", lambda primals, tangents: (ops.neg(primals[0]), ops.sub(0.5, tangents[0])))
    assert counterexample("jvp_linear").equation_count <= 3


def test_linearity_rejects_a_rule_that_forgets_an_argument_alone(mutate: Mutate) -> None:
    from lawful.core import Zero, get_aval

    right = ops.add_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any) -> Any:
        if type(tangents[0]) is Zero and type(tangents[1]) is not Zero:
            out = ops.add_p.bind(*primals)
            return out, Zero(get_aval(out).to_tangent_aval())
        return right(primals, tangents)

    mutate(ops.add_p, "jvp", wrong)
    assert counterexample("jvp_linear").equation_count <= 3


def test_linearization_rejects_a_wrong_rule_of_its_own(mutate: Mutate) -> None:
    def wrong(nonzeros: Any, *primals: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
        outs, nonzeros_out, tangent_fun = right(nonzeros, *primals, jaxpr=jaxpr, **params)
        return outs, nonzeros_out, lambda *tangents: [ops.mul(x, 2.0) for x in tangent_fun(*tangents)]

    right = jit_p.rules["linearize"]
    mutate(jit_p, "linearize", wrong)
    assert "jit(" in counterexample("linearize_is_jvp").source()


def test_linearization_rejects_primal_work(mutate: Mutate, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(nonzeros: Any, *primals: Any, jaxpr: ClosedJaxpr, name: str, **params: Any) -> Any:
        derivative, nonzeros_out = jvp_jaxpr(jaxpr, tuple(nonzeros), False)
        count = len(jaxpr.out_avals)

        def tangent_fun(*tangents: Any) -> Any:
            return jit_p.bind(*primals, *tangents, jaxpr=derivative, name=name, **params)[count:]

        return jit_p.bind(*primals, jaxpr=jaxpr, name=name, **params), nonzeros_out, tangent_fun

    mutate(jit_p, "linearize", wrong)
    monkeypatch.delitem(jit_p.rules, "partial_eval")  # which would cut the primal work off again
    with pytest.raises(LawViolation, match="does primal work"):
        laws["linearize_is_jvp"](lawful, Case.of(jit(lambda x: ops.sin(x), backend="numpy"), np.array([0.5, 1.0])))


def test_transposition_rejects_a_wrong_sign(mutate: Mutate) -> None:
    mutate(ops.neg_p, "transpose", lambda ct, x: [ct])
    assert counterexample("vjp_transpose").equation_count <= 3


def test_transposition_rejects_a_forgotten_sum(mutate: Mutate) -> None:
    mutate(ops.reduce_sum_p, "transpose", lambda ct, x, axes: [np.zeros(x.aval.shape, x.aval.dtype)])
    assert counterexample("vjp_transpose").equation_count <= 3


def test_gradient_rejects_another_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    right = lawful.grad

    def wrong(function: Rule, argnums: Any = 0) -> Rule:
        return lambda *args: tree.map(lambda x: 2 * x, right(function, argnums)(*args))

    monkeypatch.setattr(lawful, "grad", wrong)
    assert counterexample("grad_is_vjp").equation_count <= 1


def test_batching_rejects_a_wrong_dimension(mutate: Mutate) -> None:
    right = ops.reduce_sum_p.rules["batch"]

    def wrong(args: Any, dims: Any, *, axes: tuple[int, ...]) -> Any:
        out, dim = right(args, dims, axes=axes)
        return out, min(dim + 1, np.ndim(out) - 1)

    mutate(ops.reduce_sum_p, "batch", wrong)
    assert counterexample("vmap_is_loop").equation_count <= 3


def test_batching_rejects_a_batch_dimension_that_is_ignored(mutate: Mutate) -> None:
    mutate(ops.add_p, "batch", lambda args, dims: (np.add(*args), next(d for d in dims if d is not None)))
    # With square arrays and the batch in front the mutant is right; of five seeds, one has it elsewhere.
    case = Case.of(lambda x, y: ops.add_p.bind(x, y), np.eye(3), np.eye(3))
    with pytest.raises(LawViolation):
        _ = [laws["vmap_is_loop"](lawful, case, seed=i) for i in range(5)]


def test_vmaps_commute_rejects_order_dependent_rule(mutate: Mutate) -> None:
    """The mutant's result depends on which dimension is mapped first."""

    def wrong(args: Any, dims: Any) -> Any:
        (x,), (dim,) = args, dims
        return ops.mul(ops.neg(x), 2 if x.shape[dim] == 2 and x.ndim > 1 else 1), dim

    mutate(ops.neg_p, "batch", wrong)
    assert counterexample("vmaps_commute").equation_count <= 3


def test_compilation_rejects_a_wrong_op(mutate: Mutate) -> None:
    mutate(ops.mul_p, "numpy", lambda avals, compile: np.add)
    assert counterexample("jit_is_eager").equation_count <= 3


def test_compilation_rejects_a_lost_dtype(mutate: Mutate) -> None:
    mutate(ops.sin_p, "numpy", lambda avals, compile: lambda x: np.sin(x).astype(np.float32))
    assert counterexample("jit_is_eager").equation_count <= 3


@pytest.mark.fast
def test_layers_agree_rejects_a_wrong_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    right = replays[FastEvalTrace]
    monkeypatch.setitem(replays, FastEvalTrace, lambda *args: right(*args)[::-1])
    assert counterexample("layers_agree").equation_count <= 3


@pytest.mark.fast
@pytest.mark.parametrize("law", ["layers_agree", "grad_is_vjp"])
def test_laws_reject_a_wrong_fast_gradient(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = fast_grad.one_of
    monkeypatch.setattr(fast_grad, "one_of", lambda aval: right(aval) * 2)
    assert counterexample(law).equation_count <= 3


def test_compilation_rejects_lost_weakness(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PythonProgram.__call__
    monkeypatch.setattr(PythonProgram, "__call__", lambda self, *args: [*map(np.asarray, right(self, *args))])
    assert counterexample("jit_is_eager").equation_count <= 1


def test_jaxprs_reject_a_wrong_type(mutate: Mutate) -> None:
    mutate(ops.sin_p, "abstract_eval", lambda x: x.update(dtype=np.float32))
    assert counterexample("eval_jaxpr").equation_count <= 3


def test_typing_rejects_a_variable_that_is_bound_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    right = _linearize.dce_jaxpr

    def wrong(closed: ClosedJaxpr, used_outputs: Any, **options: Any) -> ClosedJaxpr:
        smaller = right(closed, used_outputs, **options)
        return ClosedJaxpr(smaller.jaxpr.replace(eqns=[*smaller.eqns[:1], *smaller.eqns]), smaller.consts)

    monkeypatch.setattr(_linearize, "dce_jaxpr", wrong)
    monkeypatch.setattr(linearize, "dce_jaxpr", wrong)
    with pytest.raises(LawViolation, match="not well typed"):
        laws["typing"](lawful, Case.of(lambda x: ops.sin(ops.sin(x)), np.array([0.5])), depth=1)


def test_text_rejects_rounded_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    right = _print.scalar_text
    monkeypatch.setattr(_print, "scalar_text", lambda value: right(value).replace("0.3", "0.30001"))
    with pytest.raises(LawViolation, match="differs once printed and parsed"):
        laws["print_parse"](lawful, Case.of(lambda x: ops.mul(x, 0.3), np.float64(0.5)))


def test_commutation_rejects_wrong_jvp_of_jit(mutate: Mutate) -> None:
    """In the mutant a compiled function has another derivative than the function."""
    right = jit_p.rules["jvp"]

    def wrong(primals: Any, tangents: Any, **params: Any) -> Any:
        outs, tangents_out = right(primals, tangents, **params)
        return outs, [ops.mul(t, 2.0) if hasattr(t, "shape") else t for t in tangents_out]

    mutate(jit_p, "jvp", wrong)
    assert counterexample("commutation", stack=("jvp", "jit")).equation_count <= 1


def test_second_order_rejects_constant_transpose(mutate: Mutate) -> None:
    """The mutant's transpose is right, but constant to second order."""
    right = ops.mul_p.rules["transpose"]
    # Right to first order, and a constant to second order.
    mutate(ops.mul_p, "transpose", lambda ct, *args: right(ct, *[_constant(x) for x in args]))
    assert counterexample("second_order").equation_count <= 3


def test_second_order_rejects_constant_derivative(mutate: Mutate) -> None:
    """The mutant's derivative is right, but constant to second order."""
    mutate(
        ops.sin_p,
        "jvp",
        lambda primals, tangents: (ops.sin(*primals), ops.mul(tangents[0], stop_gradient(ops.cos(*primals)))),
    )
    assert counterexample("second_order").equation_count <= 3


def _constant(x: Any) -> Any:
    return stop_gradient(x) if hasattr(x, "shape") else x


def test_passes_reject_a_result_that_is_mixed_up(mutate: Mutate) -> None:
    right = jit_p.rules["partial_eval"]
    mutate(jit_p, "partial_eval", lambda *args, **params: list(reversed(right(*args, **params))))
    assert counterexample("passes").equation_count <= 3


def test_passes_reject_an_equation_that_is_kept_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.laws._staging import passes

    monkeypatch.setattr(passes, "dce_jaxpr", lambda closed, used, keep_inputs=True: _only_outputs(closed, used))
    with pytest.raises(LawViolation, match="dead equation"):
        laws["passes"](lawful, Case.of(lambda x: (ops.sin(x), ops.neg(x)), np.array([0.5])))


@pytest.mark.parametrize("name", ["cse_jaxpr", "inline_jaxpr"])
def test_passes_reject_a_rewriting_that_changes_a_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.laws._staging import passes

    monkeypatch.setattr(passes, name, lambda closed: closed if not closed.eqns else _other_result(closed))
    with pytest.raises(LawViolation, match="largest difference"):
        laws["passes"](lawful, Case.of(lambda x: ops.neg(ops.sin(x)), np.array([0.5])))


def _other_result(closed: ClosedJaxpr) -> ClosedJaxpr:
    return ClosedJaxpr(closed.jaxpr.replace(outvars=closed.eqns[0].outvars), closed.consts)


def _only_outputs(closed: ClosedJaxpr, used: Any) -> ClosedJaxpr:
    outvars = [atom for atom, keep in zip(closed.jaxpr.outvars, used, strict=True) if keep]
    return ClosedJaxpr(closed.jaxpr.replace(outvars=outvars), closed.consts)


def everywhere(monkeypatch: pytest.MonkeyPatch, name: str, replacement: Any) -> None:
    """Replaces a function in every module of lawful that has imported it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("lawful.") and hasattr(module, name):
            monkeypatch.setattr(module, name, replacement)


def test_purity_rejects_residuals_that_alias_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, "read_only", lambda x: x)
    assert counterexample("purity").equation_count <= 3


def test_purity_rejects_results_that_alias_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, "copy_aliased", lambda results, others: list(results))
    assert counterexample("purity").equation_count <= 3


def test_rules_read_state_rejects_cached_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A primitive that does not say so is taken for one with pure rules."""
    right = Primitive.__init__
    monkeypatch.setattr(
        Primitive, "__init__", lambda self, *args, **options: right(self, *args, **{**options, "pure_rules": True})
    )
    assert counterexample("rules_read_state").equation_count <= 1


def test_rules_read_state_rejects_kept_jaxprs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transformed jaxpr is kept although a rule that may be impure had a part in it."""
    monkeypatch.setattr(memoization, "impure_rules", lambda: 0)
    assert counterexample("rules_read_state").equation_count <= 1


def test_equal_values_rejects_static_arguments_by_equality(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit_entry, "exact_key", lambda value: value)
    assert counterexample("equal_values_are_told_apart").equation_count <= 1


@pytest.mark.fast
def test_equal_values_rejects_parameters_by_equality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cached rules are looked up by equality of parameters: a rule for 0.0 also serves -0.0."""
    monkeypatch.setattr(traced_rules, "exact_params_key", lambda params: tuple(params.items()))
    assert counterexample("equal_values_are_told_apart").equation_count <= 1


def test_equal_values_rejects_cse_by_equality(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cse, "exact_key", lambda value: value)
    assert counterexample("equal_values_are_told_apart").equation_count <= 1


def test_purity_rejects_a_stale_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    right = JitFunction.__call__
    results: dict[int, Any] = {}

    def wrong(self: Any, *args: Any) -> Any:
        if id(self) not in results:
            results[id(self)] = self, right(self, *args)
        return results[id(self)][1]

    monkeypatch.setattr(JitFunction, "__call__", wrong)
    with pytest.raises(LawViolation, match="jit"):
        laws["purity"](lawful, Case.of(lambda x: ops.reduce_sum(x, (0,)), np.array([0.5, 1.0])))


def test_every_law_has_a_mutant() -> None:
    """The name of each law stands in a test of this folder that its mutant fails.

    The mutants of laws of jet are in tests/taylor: this package does not need lawful.taylor.
    """
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_mutants*.py")]
    own = [name for name, law in laws.items() if "jet" not in law.needs]
    assert not {name for name in own if not any(f'"{name}"' in text for text in texts)}
