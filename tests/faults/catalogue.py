"""The catalogue of faults: typical mistakes, planted one at a time to see that the laws find them.

A fault is one entry of the table of its chapter. To add one (a rule of ``scan``, for example), add an entry to the
module of its chapter, and update the table: ``python -m tests.faults.table --write``.
"""

from __future__ import annotations

from typing import Final

from ._fault import Fault
from .control_flow.choices import choice_faults
from .control_flow.loops import loop_faults
from .control_flow.rerolling import rerolling_faults
from .control_flow.solves import solve_faults
from .jaxprs.compilation import compilation_faults
from .jaxprs.evaluation import evaluation_faults
from .jaxprs.passes import pass_faults
from .jaxprs.texts import text_faults
from .primitives.batching import batching_faults
from .primitives.derivatives import derivative_faults
from .primitives.special_numbers import special_number_faults
from .primitives.transposes import transpose_faults
from .primitives.weak_operands import weak_operand_faults
from .transformations.cached_rules import cached_rule_faults
from .transformations.differentiation import differentiation_faults
from .transformations.mapping import mapping_faults
from .transformations.own_rules import own_rule_faults
from .transformations.ownership import ownership_faults
from .transformations.rematerialization import rematerialization_faults
from .transformations.sharding import sharding_faults
from .transformations.taylor import taylor_faults

#: The faults, by the part of the system that contains them.
chapters: Final[dict[str, tuple[Fault, ...]]] = {
    "Evaluation": evaluation_faults,
    "Derivatives of primitives": derivative_faults,
    "Transposes of primitives": transpose_faults,
    "Batching of primitives": batching_faults,
    "Weak operands of primitives": weak_operand_faults,
    "Forward and reverse mode": differentiation_faults,
    "Cached rules": cached_rule_faults,
    "Taylor mode": taylor_faults,
    "vmap": mapping_faults,
    "cond and switch": choice_faults,
    "Loops": loop_faults,
    "Functions with rules": own_rule_faults,
    "Solvers": solve_faults,
    "Special numbers": special_number_faults,
    "Rematerialisation": rematerialization_faults,
    "jit": compilation_faults,
    "Passes and type check": pass_faults,
    "Re-rolling": rerolling_faults,
    "Printer and parser": text_faults,
    "Memory and threads": ownership_faults,
    "Several devices": sharding_faults,
}

faults: Final[tuple[Fault, ...]] = tuple(fault for chapter in chapters.values() for fault in chapter)
