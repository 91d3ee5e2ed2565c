"""Loops are the loops of Python, and every law holds through them and through nests of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from lawful.laws import (
    Generation,
    Program,
    RandomChoose,
    check_groups,
    core_groups,
    draw_program,
    holds,
    law_associative_scan_is_loop,
    law_batched_while_is_choice,
    law_map_is_stack,
    law_rerolling,
    law_scan_is_loop,
    law_while_is_loop,
    laws,
    programs,
    quick,
    usual_dtypes,
)
from lawful.laws._programs.syntax import Nest
from lawful.laws.systems import Lawful, lawful
from tests.laws._held import part_of_examples

of_loops = (
    *(law_scan_is_loop, law_while_is_loop, law_batched_while_is_choice),
    *(law_map_is_stack, law_associative_scan_is_loop, law_rerolling),
)
every_law_of_loops = pytest.mark.parametrize("law", of_loops, ids=lambda law: law.__name__)
# Each case is a dozen loops, traced and transformed.
few = part_of_examples(5, least=4)

LOOPS = ("scan", "while_loop", "fori_loop", "map", "associative_scan")
AROUND = ("cond", "vmap", "jit", "grad", "jvp", "vjp", "linearize", "checkpoint")
NESTS: dict[str, Any] = {"forms": (*LOOPS, *AROUND), "max_depth": 3, "max_equations": 6}
SLOW = ("cost", "errors", "leaks", "agreement", "loops")
FUNCTIONS = [law for law in laws.values() if law.subject == "function" and law.group not in SLOW]


@every_law_of_loops
@few
@given(programs())
def test_scan_and_while_are_the_loop(law: Any, program: Program) -> None:
    holds(law, lawful, program)


# More programs, and one variant of each claim: those above have all of the usual ones.
@every_law_of_loops
@part_of_examples(3, least=6)
@given(programs(dtypes=usual_dtypes, smooth=False))
def test_scan_and_while_are_the_loop_with_every_dtype(law: Any, program: Program) -> None:
    holds(law, lawful, program, effort=quick)


@pytest.mark.parametrize("law", FUNCTIONS, ids=lambda law: law.name)
@few
@given(programs(Generation(**NESTS)))
def test_loops_laws_hold_through_nests(law: Any, program: Program) -> None:
    holds(law, lawful, program, effort=quick)


@pytest.mark.parametrize("law", [law for law in FUNCTIONS if not law.smooth], ids=lambda law: law.name)
@few
@given(programs(Generation(**NESTS, dtypes=usual_dtypes, smooth=False)))
def test_loops_laws_hold_through_nests_with_every_dtype(law: Any, program: Program) -> None:
    holds(law, lawful, program, effort=quick)


@pytest.mark.parametrize("name", ["vjp_transpose", "jvp_finite_differences", "linearize_is_jvp"])
@given(programs(Generation(**NESTS, dtypes=(np.dtype(np.complex128), np.dtype(np.float64)))))
def test_loops_laws_hold_through_nests_of_complex_numbers(name: str, program: Program) -> None:
    holds(laws[name], lawful, program, effort=quick)


def depth_of(block: Any) -> int:
    """How deep loops, and what is around or in them, are nested."""
    nests = [equation for equation in block.equations if isinstance(equation, Nest)]
    return max((1 + max(map(depth_of, nest.blocks)) for nest in nests), default=0)


def nested_programs(count: int) -> list[Program]:
    """Programs with loops, of which something stands in something else."""
    found: list[Program] = []
    for seed in range(40 * count):
        program = draw_program(RandomChoose(seed), Generation(**NESTS))
        names = {equation.form for equation in program.block.equations_within() if isinstance(equation, Nest)}
        if names & {*LOOPS} and depth_of(program.block) > 1:
            found.append(program)
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize(
    "program", nested_programs(settings.default.max_examples // 2), ids=lambda program: str(program.seed)
)
def test_loops_law_of_each_kind_holds_through_a_deep_nest(program: Program) -> None:
    assert len(check_groups(lawful, program, (*core_groups, "passes", "purity"))) > 5


@few
@given(programs(Generation(**{**NESTS, "max_depth": 2}, smooth=False)))
def test_loops_backends_agree(program: Program) -> None:
    holds(laws["jit_is_eager"], Lawful("xla", ("numpy", "xla")), program, effort=quick)
