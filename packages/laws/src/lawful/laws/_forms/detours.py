"""Detours as forms: sub-programs through a solver, a linear call, Python or rules, with unchanged meaning."""

from __future__ import annotations

from typing import Final

from lawful.laws._forms.own_rules import draw_ruled
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form

_VMAP_METHODS: Final = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")


@form("with_rules", "with_rules({0}, {given})({operands})", needs=())
def draw_with_rules(builder: Builder, choose: Chooser) -> None:
    """A sub-program with some rules; the others are derived from them."""
    names = ("jvp", "vjp", "batch")
    given = tuple([name for name in names if choose.integer(0, 1)])
    draw_ruled(builder, choose, "with_rules", (("given", given),))


@form("with_closure_convert", "with_closure_convert({0})({operands})", needs=())
def draw_with_closure_convert(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose closed-over values are arguments."""
    draw_ruled(builder, choose, "with_closure_convert")


@form("with_linear_call", "with_linear_call({0})({operands})", needs=())
def draw_with_linear_call(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose results go through a linear function with its own transpose."""
    draw_ruled(builder, choose, "with_linear_call")


@form("with_linear_solve", "with_linear_solve({0})({operands})", needs=())
def draw_with_linear_solve(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose results are the solution of a linear system."""
    draw_ruled(builder, choose, "with_linear_solve")


@form("with_root", "with_root({0})({operands})", needs=())
def draw_with_root(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose results are the root of a function."""
    draw_ruled(builder, choose, "with_root")


@form("with_debug", "with_debug({0})({operands})", needs=())
def draw_with_debug(builder: Builder, choose: Chooser) -> None:
    """A sub-program with a debug callback on its results."""
    draw_ruled(builder, choose, "with_debug")


@form("with_callback", "with_callback({0}, {vmap_method})({operands})", needs=())
def draw_with_callback(builder: Builder, choose: Chooser) -> None:
    """A sub-program whose results go through a Python callback."""
    draw_ruled(builder, choose, "with_callback", (("vmap_method", choose.one_of(_VMAP_METHODS)),))
