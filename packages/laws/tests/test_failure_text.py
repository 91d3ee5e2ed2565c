"""The text of a violation has all that is needed to see it again."""

import subprocess
import sys
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import find, settings

from lawful import core, ops
from lawful import laws as public
from lawful.laws import (
    Generation,
    LawViolation,
    Program,
    RandomChoose,
    draw_program,
    forms,
    law_jvp_finite_differences,
    programs,
    usual_dtypes,
)
from lawful.laws.systems import lawful


def drawn_again(program: Program) -> Program:
    again = eval(str(program.origin), {**vars(public), "core": core})
    assert isinstance(again, Program)
    return again


@pytest.mark.parametrize("generation", [Generation(), Generation(dtypes=usual_dtypes, smooth=False, max_equations=3)])
def test_violation_text_origin_of_a_program_draws_it_again(generation: Generation) -> None:
    for seed in range(20):
        program = draw_program(RandomChoose(seed, generation.dtypes), generation)
        assert drawn_again(program).source() == program.source()


def test_violation_text_origin_of_shrunk_program_draws_it_again() -> None:
    program = find(programs(), lambda p: p.equation_count > 1, settings=settings(max_examples=100, database=None))
    assert "ReplayChoose" in str(program.origin)
    assert drawn_again(program).source() == program.source()


def run_alone(source: str) -> None:
    """Runs Python in a fresh interpreter, where warnings of division and overflow are none of its business."""
    subprocess.run([sys.executable, "-W", "ignore", "-"], input=source, check=True, capture_output=True, text=True)


def test_violation_text_program_of_a_violation_runs_when_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(primals: Any, tangents: Any) -> Any:
        return ops.sin_p.bind(*primals), ops.mul(tangents[0], ops.sin(primals[0]))

    monkeypatch.setitem(ops.sin_p.rules, "jvp", wrong)
    text, program = first_violation()
    parts = ["law_jvp_finite_differences does not hold: jvp(f, x, v) =", "the largest difference is", "The program:"]
    parts += ["jvp(f, x, v):", "finite differences:", "As a jaxpr:", "{ lambda", "draw_program(RandomChoose("]
    parts += [f"Directions are drawn with seed {program.seed}.", *(f"{name} = " for name in program.block.parameters)]
    for part in parts:
        assert part in text
    pasted = text.partition("The program:\n")[2].partition("As a jaxpr:")[0]
    run_alone(dedent(pasted))


def first_violation() -> tuple[str, Program]:
    for seed in range(200):
        program = draw_program(RandomChoose(seed))
        try:
            law_jvp_finite_differences(lawful, program)
        except LawViolation as error:
            return str(error), program
        except public.Inapplicable:
            pass
    raise AssertionError("no program uses the sine")


def test_violation_text_every_form_and_dtype_runs_when_pasted() -> None:
    generation = Generation(dtypes=usual_dtypes, smooth=False, forms=tuple(forms))
    sources = [draw_program(RandomChoose(seed, usual_dtypes), generation).source() for seed in range(140)]
    assert all(any(f" {form}(" in source for source in sources) for form in forms)
    run_alone("\n".join(sources))
