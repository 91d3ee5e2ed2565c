"""``checkpoint`` as a form."""

from __future__ import annotations

from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.syntax import one_or_all


@form("checkpoint", "checkpoint({0})({operands})", needs=("checkpoint",))
def draw_checkpoint(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose derivative recomputes its values."""
    operands = draw_operands(builder, choose, 1)
    drawn = builder.block(choose, [v.values for v in operands], lambda: draw_results(builder, choose))
    if drawn is not None:
        block, values = drawn
        results = one_or_all([list(elements) for elements in values])
        builder.nest("checkpoint", [block], expressions(operands), results)
