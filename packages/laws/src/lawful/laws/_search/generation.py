"""Generation of programs: equations over declared ops, at values in the ops' domains.

A program is built together with the values of its variables. An operand outside of its op's domain is mapped into it, a
large result is scaled down, and an equation at a kink is rejected. So hardly any whole program has to be rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lawful.core import is_inexact
from lawful.laws import _forms  # noqa: F401 - declares the forms
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.catalogue import Catalogue
from lawful.laws._programs.choose import Chooser, RandomChoose
from lawful.laws._programs.form import forms_of_one_device
from lawful.laws._programs.origin import Origin
from lawful.laws._programs.program import Program
from lawful.laws._programs.syntax import Block

float64, int64, boolean = np.dtype(np.float64), np.dtype(np.int64), np.dtype(bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The settings of generated programs.

    Attributes:
      dtypes: those of inputs and constants; promotion may give others.
      max_equations: the number of equations of the outermost function.
      max_inputs: how many inputs there are at most.
      max_depth: how deep sub-programs are nested.
      nesting: how many equations with sub-programs are drawn for 17 others.
      smooth: whether to keep away from kinks and jumps, for laws that take finite differences.
      weak: whether Python scalars are among inputs and constants.
      trees: whether there are inputs that are pytrees of arrays.
      backend: that of nested ``jit``s; None for the default one.
      catalogue: the ops; those of lawful by default.
      forms: the kinds of sub-programs; by default all on one device, ``forms_of(system)`` for those that a system has.

    >>> from lawful.laws import RandomChoose
    >>> program = draw_program(RandomChoose(1), Generation(max_equations=2, max_depth=0))
    >>> program.equation_count <= 2
    True
    """

    dtypes: tuple[np.dtype[Any], ...] = (float64, int64, boolean)
    max_equations: int = 8
    max_inputs: int = 3
    max_depth: int = 2
    nesting: int = 3
    smooth: bool = True
    weak: bool = True
    trees: bool = True
    backend: str | None = "numpy"
    catalogue: Catalogue | None = None
    forms: tuple[str, ...] = field(default_factory=forms_of_one_device)


def draw_program(choose: Chooser, settings: Generation | None = None) -> Program:
    """Returns a program, drawn together with an example of its inputs.

    Args:
      choose: where choices come from; ``RandomChoose(seed)`` for the fast way without shrinking.
      settings: what programs are drawn.

    >>> from lawful.laws import RandomChoose
    >>> program = draw_program(RandomChoose(1))
    >>> _ = program(*program.args)
    """
    settings = settings or Generation()
    before = len(choose.choices)
    with np.errstate(all="ignore"):
        builder = Builder(choose, settings)
        builder.draw_inputs(choose)
        builder.equations(choose, settings.max_equations)
        results = draw_results(builder, choose)
    block = Block("program", tuple(builder.inputs), tuple(builder.frame.equations), results)
    seed = choose.integer(0, 2**16)
    known = choose.seed if isinstance(choose, RandomChoose) and not before else None
    origin = Origin(known, tuple(choose.choices[before:]), choose.dtypes, settings)
    return Program(block, tuple(builder.constants.items()), tuple(builder.inputs.values()), seed, origin)


def draw_results(builder: Builder, choose: Chooser) -> Any:
    """Returns the tree of a program's results: the newest variable, or several."""
    variables = builder.visible(lambda v: builder.name_of(v) not in builder.constants)
    # At least one result can be differentiated, if only the first input.
    floating = [v for v in variables if is_inexact(v.aval.dtype)] or variables
    chosen = [choose.early(floating), *[choose.early(variables) for _ in range(choose.integer(0, 2))]]
    names = [builder.named(variable.operand) for variable in chosen]
    if len(names) == 1:
        return names[0]
    shape = choose.integer(0, 3)
    if shape == 0:
        return tuple(names)
    if shape == 1:
        return names
    return {"p": names[0], "q": tuple(names[1:]) if shape == 2 else names[1]}
