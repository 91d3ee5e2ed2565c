"""Every declared primitive, whichever package it comes from: what it declares is true, and its rules agree."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import ops
from lawful.core import MissingRuleError, Primitive
from lawful.laws import (
    LAWS_AT_SPECIAL_POINTS,
    Inapplicable,
    RandomChoose,
    check_primitive,
    declared_primitives,
    draw_call,
    law_commutation,
    law_jvp_finite_differences,
    law_jvp_linear,
    law_kinds_agree,
    law_linearize_is_jvp,
    law_primitive_algebra,
    law_primitive_reference,
    law_primitive_special_points,
    law_primitive_specialised,
    law_primitive_traced_rules,
    law_primitive_transpose,
    law_primitive_typing,
    law_second_order,
    law_vjp_transpose,
    law_vmap_is_loop,
    law_vmaps_commute,
    laws,
    primitive_calls,
    quick,
    usual_dtypes,
)
from lawful.laws.systems import Lawful, lawful
from tests.laws._held import part_of_examples

namespace = importlib.import_module("lawful")
for package in pkgutil.iter_modules(namespace.__path__):
    if package.name != "cli":
        importlib.import_module(f"lawful.{package.name}")

Law = Callable[..., None]

primitives = pytest.mark.parametrize("primitive", declared_primitives(), ids=lambda p: p.name)
# An example of a primitive costs less than a program, and there are many primitives.
few = part_of_examples(5, least=5)
fewer = part_of_examples(12, least=2)


@contextmanager
def where_applicable(primitive: Primitive) -> Iterator[None]:
    """Leaves out a law of derivatives where there is nothing to differentiate, or the rule is declared absent."""
    try:
        with suppress(Inapplicable):
            yield
    except MissingRuleError:
        if "jvp" not in primitive.absent:
            raise


def check(
    law: Law, data: st.DataObject, primitive: Primitive, *, smooth: bool, system: Lawful = lawful, **options: object
) -> None:
    """Checks a law on a drawn call; on one of any dtype where the law needs no smoothness."""
    strategy = primitive_calls(primitive, smooth=True) if smooth else primitive_calls(primitive, usual_dtypes)
    call = data.draw(strategy)
    with where_applicable(primitive):
        law(system, call, **options)


@primitives
@few
@given(st.data())
def test_primitive_is_its_reference(primitive: Primitive, data: st.DataObject) -> None:
    check(law_primitive_reference, data, primitive, smooth=False)


@primitives
@fewer
@given(st.data())
def test_primitive_is_its_reference_compiled_by_xla(primitive: Primitive, data: st.DataObject) -> None:
    """Half of the calls have special numbers."""
    system = Lawful(backends=("xla",))
    if data.draw(st.booleans()):
        seed = data.draw(st.integers(0, 2**16))
        with suppress(Inapplicable):
            call = draw_call(primitive, RandomChoose(seed, usual_dtypes), special=True)
            law_primitive_reference(system, call)
    else:
        check(law_primitive_reference, data, primitive, smooth=False, system=system)


def by_numpy_rule() -> dict[str, list[Primitive]]:
    """Returns the primitives that have each rule for the NumPy backend, by its name."""
    found: dict[str, list[Primitive]] = {}
    for primitive in declared_primitives():
        if "numpy" in primitive.rules:
            rule = primitive.rule("numpy")
            found.setdefault(f"{rule.__module__}.{rule.__qualname__}", []).append(primitive)
    return found


def rules_of(*, many: bool) -> pytest.MarkDecorator:
    """Returns the parameters of a test of each rule for the NumPy backend, of many primitives or of a few."""
    chosen = {name: alike for name, alike in by_numpy_rule().items() if (len(alike) > 10) == many}
    return pytest.mark.parametrize("alike", chosen.values(), ids=chosen)


# Nothing is traced: an example takes a few milliseconds.
@rules_of(many=True)
@settings(max_examples=50 * settings.default.max_examples)
@given(st.data())
def test_primitive_specialised_to_its_implementation(alike: list[Primitive], data: st.DataObject) -> None:
    check(law_primitive_specialised, data, data.draw(st.sampled_from(alike)), smooth=False)


@rules_of(many=False)
@settings(max_examples=max(10 * settings.default.max_examples, 200))
@given(st.data())
def test_primitive_specialised_by_a_rule_of_few(alike: list[Primitive], data: st.DataObject) -> None:
    check(law_primitive_specialised, data, data.draw(st.sampled_from(alike)), smooth=False)


# Not all in one test: Hypothesis nests the settings of a function once for each of its parameters that a process runs,
# and Python's stack is full of them after a thousand.
@primitives
@few
@given(st.data())
@pytest.mark.parametrize("law", [law_primitive_typing, law_primitive_algebra, law_primitive_transpose])
def test_primitive_rules_with_every_dtype(primitive: Primitive, law: Law, data: st.DataObject) -> None:
    check(law, data, primitive, smooth=False)


@primitives
@few
@given(st.data())
@pytest.mark.parametrize("law", [law_vmap_is_loop, law_vmaps_commute, law_jvp_linear])
def test_primitive_batches_and_tangents_with_every_dtype(primitive: Primitive, law: Law, data: st.DataObject) -> None:
    check(law, data, primitive, smooth=False)


@primitives
@fewer
@given(st.data())
def test_primitive_rules_are_the_same_at_values_and_at_types(primitive: Primitive, data: st.DataObject) -> None:
    check(law_primitive_traced_rules, data, primitive, smooth=False)


differentiable = [p for p in declared_primitives() if p.declaration is not None and p.declaration.differentiable]


@pytest.mark.parametrize("primitive", differentiable, ids=lambda p: p.name)
@few
@given(st.data())
@pytest.mark.parametrize("law", [law_jvp_finite_differences, law_linearize_is_jvp, law_vjp_transpose, law_second_order])
def test_primitive_derivative_rules(primitive: Primitive, law: Law, data: st.DataObject) -> None:
    check(law, data, primitive, smooth=True)


elementwise = [getattr(ops, name).primitive for name in ops.__all__ if isinstance(getattr(ops, name), ops.Elementwise)]
wide = tuple(map(np.dtype, ("float64", "complex128")))


@pytest.mark.parametrize("primitive", [p for p in elementwise if p in differentiable], ids=lambda p: p.name)
def test_primitive_rules_with_weak_operands(primitive: Primitive) -> None:
    """The derivative of a Python number has its shape and dtype, and may be weak or strong."""
    call = draw_call(primitive, RandomChoose(0, wide))
    args = [np.asarray(x).reshape(-1)[0].item() if np.size(x) else 0.5 for x in call.args]
    named = ["primitive_typing", "primitive_traced_rules"]
    report = check_primitive(primitive, *args, effort=quick, laws=named, **call.params)
    assert report.ok, str(report)


@pytest.mark.parametrize("primitive", differentiable, ids=lambda p: p.name)
@settings(max_examples=settings.default.max_examples // 4 + 1)
@given(st.data())
def test_primitive_derivatives_at_special_points(primitive: Primitive, data: st.DataObject) -> None:
    check(law_primitive_special_points, data, primitive, smooth=False, system=Lawful(backends=("numpy",)))


@primitives
@part_of_examples(12, least=2, repeated=1)
@given(st.data())
def test_primitive_rules_at_special_numbers(primitive: Primitive, data: st.DataObject) -> None:
    """Zeros of both signs, ties, ends of the domain and just outside, infinities, NaN and the ends of each dtype.

    All laws are in one test: with the laws as parameters, the settings would be nested too deeply.
    """
    seed = data.draw(st.integers(0, 2**16))
    for name in sorted(LAWS_AT_SPECIAL_POINTS):
        with where_applicable(primitive):
            call = draw_call(primitive, RandomChoose(seed, usual_dtypes), special=True)
            laws[name](Lawful(backends=("numpy",)), call, effort=quick)


@primitives
@fewer
@given(st.data())
def test_primitive_operands_of_every_kind_agree(primitive: Primitive, data: st.DataObject) -> None:
    check(law_kinds_agree, data, primitive, smooth=False, system=Lawful(backends=("numpy",)))


@primitives
def test_primitive_each_exclusion_has_a_reason(primitive: Primitive) -> None:
    assert primitive.declaration is not None
    declared = [*primitive.declaration.excluded]
    for interval in primitive.declaration.domain:
        declared += interval.excluded
    assert all(len(excluded.reason.split()) >= 2 for excluded in declared)


@pytest.mark.parametrize("primitive", differentiable, ids=lambda p: p.name)
@fewer
@given(st.data(), st.permutations(("jit", "vmap", "jvp", "vjp")))
def test_primitive_rules_commute(primitive: Primitive, data: st.DataObject, stack: list[str]) -> None:
    check(law_commutation, data, primitive, smooth=True, stack=tuple(stack[:3]))
