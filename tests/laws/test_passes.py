"""Passes keep meaning, and are idempotent."""

from typing import Any

import numpy as np
from hypothesis import given

from lawful import debug, ops
from lawful.control_flow import scan
from lawful.laws import Case, Program, holds, law_passes, law_rerolling, programs, usual_dtypes
from lawful.laws.systems import lawful, with_jvp_rule, with_vjp_rule


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


def test_rerolling_of_rules_that_make_other_rules_each_time() -> None:
    def outer(x: Any) -> Any:
        return with_vjp_rule(lambda y: ops.sin(y) * y)(x)

    for seed in range(3):
        law_rerolling(lawful, Case.of(lambda x: with_jvp_rule(outer)(x), np.float64(0.5), seed=seed))
