"""The solutions of the exercises of `docs/core/11_exercises.md`."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import MissingRuleError, alpha_equivalent, check_jaxpr, eval_closed_jaxpr
from lawful.laws import check_primitive, quick
from lawful.staging import jit, make_jaxpr

SOLUTIONS = Path(__file__).parent / "solutions"


@pytest.fixture(scope="module")
def solutions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SOLUTIONS)
        yield


def solution(name: str) -> ModuleType:
    return importlib.import_module(name)


# An op


@pytest.mark.usefixtures("solutions")
def test_rotate_is_roll() -> None:
    rotate = solution("rotate").rotate
    x = np.arange(12.0).reshape(2, 2, 3)
    for shift in (-4, -1, 0, 2, 3):
        assert np.array_equal(rotate(x, shift), np.roll(x, shift, axis=-1))
        compiled = jit(lambda x, shift=shift: rotate(x, shift))(x)
        assert np.array_equal(compiled, np.roll(x, shift, axis=-1))


@pytest.mark.usefixtures("solutions")
def test_rotate_obeys_the_laws() -> None:
    report = check_primitive(solution("rotate").rotate_p, np.arange(6.0).reshape(2, 3), shift=1, effort=quick)
    assert report.ok, report


# A transformation


def fall(t: Any, g: Any) -> Any:
    return 0.5 * g * t * t


@pytest.mark.usefixtures("solutions")
def test_with_units_of_a_function_and_its_gradient() -> None:
    units = solution("units")
    arguments = units.Unit(s=1), units.Unit(m=1, s=-2)
    assert units.with_units(fall, *arguments)(2.0, 9.81) == (19.62, units.Unit(m=1))
    assert units.with_units(grad(fall), *arguments)(2.0, 9.81) == (19.62, units.Unit(m=1, s=-1))
    assert units.with_units(jit(fall), *arguments)(2.0, 9.81) == (19.62, units.Unit(m=1))
    chosen = units.with_units(lambda t, g: cond(True, fall, lambda t, g: g * t * t, t, g), *arguments)
    assert chosen(2.0, 9.81) == (19.62, units.Unit(m=1))


@pytest.mark.usefixtures("solutions")
def test_with_units_inside_other_transformations() -> None:
    units = solution("units")

    def height(t: Any) -> Any:
        return units.with_units(fall, units.Unit(s=1), units.Unit(m=1, s=-2))(t, 9.81)[0]

    assert grad(height)(2.0) == 19.62
    times = np.array([0.0, 1.0, 2.0])
    assert np.array_equal(vmap(height)(times), fall(times, 9.81))
    assert np.array_equal(jit(vmap(height))(times), fall(times, 9.81))


@pytest.mark.usefixtures("solutions")
def test_with_units_names_the_line_of_its_user() -> None:
    units = solution("units")
    checked = units.with_units(lambda t: t + 1.0, units.Unit(s=1))
    with pytest.raises(units.UnitError, match=r"test_exercises\.py:.*expected operands of one unit") as caught:
        checked(1.0)
    assert caught.value.source.file == __file__
    with pytest.raises(units.UnitError, match="expected operands of one unit"):
        units.with_units(ops.sin, units.Unit(s=1))(1.0)
    with pytest.raises(MissingRuleError, match=r"tan_p\.def_rule\('units', rule\)"):
        units.with_units(ops.tan, units.Unit(s=1))(1.0)


# A pass


neg = ops.neg
PROGRAMS = [
    lambda x: neg(neg(x)),
    lambda x: neg(neg(neg(x))) * x,
    lambda x: jit(lambda y: neg(neg(y)))(x) + x,
    lambda x: lnp.sin(neg(x)) - neg(neg(x)),
    lambda x: x,
]


@pytest.mark.usefixtures("solutions")
@pytest.mark.parametrize("program", PROGRAMS)
def test_cancel_negations_keeps_meaning_and_is_idempotent(program: Any) -> None:
    cancel_negations = solution("cancel_negations").cancel_negations
    x = np.array([0.0, -0.0, 2.0, -3.0])
    before = make_jaxpr(program)(x)
    after = cancel_negations(before)
    check_jaxpr(after)
    assert alpha_equivalent(cancel_negations(after), after)
    (expected,), (found,) = eval_closed_jaxpr(before, x), eval_closed_jaxpr(after, x)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(expected))
    assert str(after).count(" neg ") < 2


@pytest.mark.usefixtures("solutions")
def test_cancel_negations_as_a_pass_of_jit() -> None:
    cancel_negations = solution("cancel_negations").cancel_negations
    negated = jit(lambda x: neg(neg(x)) * x, passes=(cancel_negations,))
    assert negated(3.0) == 9.0
    assert "negate" not in negated.lower(np.ones(2)).as_text()
