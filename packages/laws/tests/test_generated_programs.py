"""Generated programs are well typed, finite, printable and small when they shrink."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lawful import ops, tree
from lawful.core import check_jaxpr, get_aval, is_inexact
from lawful.laws import (
    Generation,
    Inapplicable,
    LawViolation,
    Program,
    RandomChoose,
    draw_program,
    law_jvp_finite_differences,
    programs,
    usual_dtypes,
)
from lawful.laws._law.comparison import find_difference
from lawful.laws.systems import lawful

every_dtype = Generation(dtypes=usual_dtypes, smooth=False)
thorough_search = settings(
    max_examples=5000, database=None, deadline=None, derandomize=True, phases=(Phase.generate, Phase.shrink)
)


def run(program: Program) -> Any:
    with np.errstate(all="ignore"):
        return program(*program.args)


@pytest.mark.parametrize("settings_of_programs", [Generation(), every_dtype], ids=["smooth", "every dtype"])
@given(st.data())
def test_programs_well_typed(settings_of_programs: Generation, data: st.DataObject) -> None:
    program = data.draw(programs(settings_of_programs))
    closed = program.jaxpr()
    check_jaxpr(closed)
    assert closed.out_avals == [get_aval(x) for x in tree.leaves(run(program))]


@given(programs())
def test_programs_values_are_finite_and_moderate(program: Program) -> None:
    for x in tree.leaves(run(program)):
        if is_inexact(get_aval(x).dtype):
            assert np.all(np.abs(x) <= 64)


@given(programs(every_dtype))
def test_programs_source_that_is_pasted_gives_the_same(program: Program) -> None:
    scope: dict[str, Any] = {"__name__": "pasted"}
    with np.errstate(all="ignore"):
        exec(program.source(), scope)
    assert find_difference(scope["result"], run(program), "nothing", weakness=True) is None


def test_few_programs_are_rejected_by_finite_differences() -> None:
    outcomes = Counter(_is_applicable(seed) for seed in range(150))
    assert outcomes[False] < 0.1 * outcomes.total(), outcomes


def _is_applicable(seed: int) -> bool:
    program = draw_program(RandomChoose(seed))
    try:
        law_jvp_finite_differences(lawful, program)
    except Inapplicable:
        return False
    return True


def test_a_seed_is_a_program() -> None:
    assert draw_program(RandomChoose(7)).source() == draw_program(RandomChoose(7)).source()


def _wrong_sine(primals: Any, tangents: Any) -> Any:
    return ops.sin_p.bind(*primals), ops.mul(tangents[0], ops.sin(primals[0]))


def test_programs_counterexample_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ops.sin_p.rules, "jvp", _wrong_sine)

    def is_violated(program: Program) -> bool:
        try:
            law_jvp_finite_differences(lawful, program)
        except LawViolation:
            return True
        except Inapplicable:
            pass
        return False

    smallest = find(programs(), is_violated, settings=thorough_search)
    assert smallest.equation_count <= 3
    assert len(smallest.args) <= 2
    with pytest.raises(LawViolation) as raised:
        law_jvp_finite_differences(lawful, smallest)
    text = str(raised.value)
    for part in ("law_jvp_finite_differences does not hold: jvp(f, x, v) = lim", "largest difference", "def program("):
        assert part in text
    for part in ("{ lambda", "jvp(f, x, v):", "finite differences:", "result = program("):
        assert part in text
