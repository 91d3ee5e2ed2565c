"""``jit`` as a form."""

from __future__ import annotations

from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.syntax import one_or_all


@form("jit", "jit({0}, backend={backend})({operands})", needs=("jit",))
def draw_jit(builder: Builder, choose: Chooser) -> None:
    """A compiled sub-program."""
    operands = draw_operands(builder, choose, 1)
    drawn = builder.block(choose, [v.values for v in operands], lambda: draw_results(builder, choose))
    if drawn is not None:
        block, values = drawn
        results = one_or_all([list(elements) for elements in values])
        builder.nest("jit", [block], expressions(operands), results, (("backend", builder.settings.backend),))
