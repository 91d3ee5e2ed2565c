"""``shard_map``, ``pmap`` and shardings as forms: sub-programs on several devices, with unchanged meaning."""

from __future__ import annotations

from typing import Final

from lawful.laws._forms.batching import draw_mapped
from lawful.laws._forms.own_rules import draw_ruled
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form

_SIZES: Final = ((2,), (1,), (3,), (4,), (2, 2), (2, 1), (2, 3), (2, 2, 2))


@form("with_shard_map", "with_shard_map({0}, {sizes}, {checked}, {way})({operands})", needs=("devices",))
def draw_with_shard_map(builder: Builder, choose: Chooser) -> None:
    """A sub-program on every device of a mesh, of arguments that are split and gathered."""
    checked = choose.integer(0, 1) == 0
    way = choose.one_of(("whole", "stacked", "summed"))
    settings = (("sizes", choose.one_of(_SIZES)), ("checked", checked), ("way", way))
    draw_ruled(builder, choose, "with_shard_map", settings)


@form("with_pmap", "with_pmap({0}, in_axes={in_axes}, out_axes={out_axes})({operands})", needs=("devices", "vmap"))
def draw_with_pmap(builder: Builder, choose: Chooser) -> None:
    """A sub-program with one element of its mapped operands on each device."""
    draw_mapped(builder, choose, "with_pmap")


@form("with_shardings", "with_shardings({0}, {sizes}, {compiled})({operands})", needs=("devices",))
def draw_with_shardings(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose arguments and results are split over devices."""
    settings = (("sizes", choose.one_of(_SIZES)), ("compiled", choose.integer(0, 1) == 1))
    draw_ruled(builder, choose, "with_shardings", settings)
