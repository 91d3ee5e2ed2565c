"""Passes keep meaning, and are idempotent."""

from typing import Any

import numpy as np
from hypothesis import given

from lawful import debug, ops
from lawful.control_flow import scan
from lawful.laws import Case, Program, holds, law_passes, programs, usual_dtypes
from lawful.laws.systems import lawful


@given(programs())
def test_passes_keep_meaning(program: Program) -> None:
    holds(law_passes, lawful, program)


@given(programs(dtypes=usual_dtypes, smooth=False))
def test_passes_keep_meaning_with_every_dtype(program: Program) -> None:
    holds(law_passes, lawful, program)


def test_passes_of_a_scan_of_which_the_effect_is_left() -> None:
    def program(a: Any) -> Any:
        def body(carry: Any, x: Any) -> Any:
            debug.callback(lambda _: None, ops.rsqrt(np.float64(0.52)))
            return carry * x, None

        scan(body, 1.0, a)
        return a

    law_passes(lawful, Case.of(program, np.array([1.5, 2.0])))
