"""Loops that a rule differentiates along a direction that it knows, as a form."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from lawful.laws._forms.loop_bodies import (
    ITERATIONS,
    has_room,
    in_each_iteration,
    keeps_types,
    limit,
    require_moderate,
    results_of,
    strong_value,
)
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.equations import draw_in_each_element
from lawful.laws._programs.form import form
from lawful.laws._programs.scope import Operand, Variable, applied, static
from lawful.laws._programs.syntax import Static

_LOOPS: Final = ("fori_loop", "scan", "while_loop", "cond")
_NEEDS: Final = ("custom_jvp", "jvp", "higher order", *_LOOPS)


@form("with_slope_rule", "with_slope_rule({0}, {loop}, {length})({operands})", needs=_NEEDS)
def draw_with_slope_rule(builder: Builder, choose: Chooser) -> None:
    """A loop whose rule multiplies the tangent by a derivative that it computes: the loop's, along ones.

    This is right only if each element of the result depends on that element of the argument alone. So the body acts on
    each element alone.
    """
    arrays = builder.visible(lambda v: v.kind == "f" and not v.aval.weak_type)
    if not arrays or not has_room(builder):
        return
    x = choose.early(arrays)
    one = Variable(Static(None), tuple([np.full_like(value, 1.0)[()] for value in x.values]))

    def results() -> list[Operand]:
        carry, argument = builder.frame.variables[:2]
        own = [v for v in reversed(builder.frame.variables) if v.aval == x.aval]
        after = choose.early(own).operand
        if choose.integer(0, 3) == 0:
            return [after]
        # It depends on both, and does not grow.
        half = carry.operand.wrapped("ops.mul", Static(choose.one_of((0.5, -0.5))))
        return [applied("ops.add", [half, applied("ops.mul", [after, argument.operand.wrapped("ops.sin")])])]

    drawn = builder.block(
        choose, [in_each_iteration(builder, one), x.values], results, ITERATIONS,
        draw=partial(draw_in_each_element, aval=x.aval),
    )  # fmt: skip
    if drawn is None:
        return
    loop = choose.one_of(_LOOPS)
    # A scan has a known length.
    is_known = loop == "scan" or choose.integer(0, 1) == 0
    length = static(Static(choose.one_of((2, 1, 3, 0)))) if is_known else limit(builder, choose)

    def run(functions: Any, end: Any, x: Any) -> Any:
        carry = np.full_like(x, 1.0)[()]
        for _ in range(int(end)):
            after = strong_value(functions[0](carry, x))
            assert keeps_types([carry], [after])
            require_moderate(after)
            carry = after
        return carry

    found = results_of(builder, [drawn[0]], [Variable(length.expression, length.values), x], run)
    if found is not None:
        settings = (("loop", loop), ("length", length.expression))
        builder.nest("with_slope_rule", [drawn[0]], (x.expression,), found, settings)
