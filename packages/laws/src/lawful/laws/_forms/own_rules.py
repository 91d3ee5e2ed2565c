"""Functions with custom rules as forms: sub-programs whose rules are those that would be derived."""

from __future__ import annotations

from typing import Any

from lawful.laws._forms.operands import draw_operands, draw_results, expressions
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.syntax import one_or_all


def draw_ruled(builder: Builder, choose: Chooser, name: str, settings: tuple[tuple[str, Any], ...] = ()) -> None:
    """Adds a sub-program that is called with rules; it may close over enclosing variables."""
    operands = draw_operands(builder, choose, 1)
    drawn = builder.block(choose, [v.values for v in operands], lambda: draw_results(builder, choose))
    if drawn is not None:
        block, values = drawn
        builder.nest(
            name, [block], expressions(operands), one_or_all([list(elements) for elements in values]), settings
        )


@form("with_jvp_rule", "with_jvp_rule({0})({operands})", needs=("custom_jvp", "jvp", "higher order"))
def draw_with_jvp_rule(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose derivative is a rule of forward mode."""
    draw_ruled(builder, choose, "with_jvp_rule")


@form("with_vjp_rule", "with_vjp_rule({0})({operands})", needs=("custom_vjp", "vjp", "higher order"))
def draw_with_vjp_rule(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose derivative is a rule of reverse mode."""
    draw_ruled(builder, choose, "with_vjp_rule")


@form("with_vmap_rule", "with_vmap_rule({0})({operands})", needs=("custom_vmap", "vmap", "higher order"))
def draw_with_vmap_rule(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose batched form is a rule."""
    draw_ruled(builder, choose, "with_vmap_rule")
