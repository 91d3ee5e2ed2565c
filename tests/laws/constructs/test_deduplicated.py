"""`deduplicated` on generated programs: what is found for a program is that program."""

from __future__ import annotations

import numpy as np
import pytest

from lawful.core import ClosedJaxpr, alpha_equivalent, clear_caches, deduplicated
from lawful.laws import Program, RandomChoose, draw_program
from lawful.staging import make_jaxpr


def traced(program: Program) -> ClosedJaxpr:
    with np.errstate(all="ignore"):
        closed: ClosedJaxpr = make_jaxpr(program)(*program.args)
    return closed


@pytest.mark.fast
def test_deduplicated_what_is_found_is_the_same_program() -> None:
    """All are traced from one line, under one name, so that only what they compute tells them apart."""
    clear_caches()
    found_again = 0
    for seed in range(200):
        program = draw_program(RandomChoose(seed))
        for _ in range(3):
            closed = traced(program)
            found = deduplicated(closed)
            assert alpha_equivalent(found, closed), f"draw_program(RandomChoose({seed}))"
            found_again += found is not closed
    assert found_again > 50  # the others have constants, or functions with rules
