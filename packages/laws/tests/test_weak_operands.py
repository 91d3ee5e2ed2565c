"""Calls of primitives are drawn with Python numbers too, so that rules wrong for weak operands alone are found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive, Zero, get_aval
from lawful.laws import RandomChoose, check_primitive, draw_call, quick, usual, usual_dtypes

pytestmark = pytest.mark.once

SEEDS = range(60)


def weakness(primitive: Primitive, seed: int, **options: bool) -> list[bool]:
    call = draw_call(primitive, RandomChoose(seed, usual_dtypes), **options)
    return [type(x) in (bool, int, float, complex) for x in call.args]


@pytest.mark.parametrize("options", [{}, {"smooth": True}, {"special": True}])
def test_draw_call_gives_some_python_numbers(options: dict[str, bool]) -> None:
    drawn = [weakness(ops.add_p, seed, **options) for seed in SEEDS]
    assert 5 < sum(map(all, drawn)) + drawn.count([True, False]) + drawn.count([False, True]) < 30
    assert {(True, True), (True, False), (False, True), (False, False)} == set(map(tuple, drawn))


@pytest.mark.parametrize("primitive", [ops.pad_p, ops.dynamic_slice_p, ops.dynamic_update_slice_p])
def test_draw_call_gives_python_numbers_beside_arrays(primitive: Primitive) -> None:
    def is_beside_an_array(seed: int) -> bool:
        call = draw_call(primitive, RandomChoose(seed, usual_dtypes))
        return any(get_aval(x).weak_type for x in call.args) and any(np.ndim(x) for x in call.args)

    assert any(map(is_beside_an_array, SEEDS))


@pytest.mark.parametrize("primitive", [ops.random_bits_p, ops.argmax_p])
def test_draw_call_keeps_arrays_that_a_type_rule_needs(primitive: Primitive) -> None:
    assert not any(any(weakness(primitive, seed)) for seed in SEEDS)


def doubled(right: Callable[..., Any], is_wrong: Callable[[Any], bool]) -> Callable[..., Any]:
    def jvp(primals: Any, tangents: Any) -> Any:
        ans, t = right(primals, tangents)
        return ans, ops.mul(t, 2) if type(t) is not Zero and is_wrong(primals) else t

    return jvp


@pytest.mark.parametrize(
    "is_wrong",
    [
        lambda xs: all(get_aval(x).weak_type for x in xs),
        lambda xs: get_aval(xs[0]).weak_type and not get_aval(xs[1]).weak_type,
    ],
    ids=["alone", "beside an array"],
)
def test_check_primitive_finds_a_fault_of_weak_operands(monkeypatch: pytest.MonkeyPatch, is_wrong: Any) -> None:
    monkeypatch.setitem(ops.atan2_p.rules, "jvp", doubled(ops.atan2_p.rule("jvp"), is_wrong))
    report = check_primitive(ops.atan2_p, effort=usual, laws=["jvp_finite_differences"])
    assert not report.ok


def test_check_primitive_passes_with_weak_operands() -> None:
    assert check_primitive(ops.atan2_p, effort=quick).ok
