"""Laws of program transformations, and generated programs to hold a system to them.

Every law is a function of a system and a case: it returns nothing if the law holds there, and raises
:class:`LawViolation` if it does not. A system is lawful, or another one that there is an adapter for. A case is a
function with its arguments: your own, or a program drawn by :func:`programs`.

>>> import numpy as np
>>> from lawful import ops
>>> from lawful.laws import Case, law_vjp_transpose
>>> from lawful.laws.systems import lawful
>>> law_vjp_transpose(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
"""

from lawful.laws._batching import law_vmap_is_loop, law_vmaps_commute
from lawful.laws._case import Case
from lawful.laws._catalogue import catalogue_of, declared_primitives
from lawful.laws._choose import HypothesisChoose, RandomChoose, usual_dtypes, wide_dtypes
from lawful.laws._commutation import law_commutation, transformations
from lawful.laws._effort import Effort, quick, thorough, usual
from lawful.laws._evaluation import installed_backends, law_eval_jaxpr, law_jit_is_eager
from lawful.laws._forward import law_jvp_finite_differences, law_jvp_linear
from lawful.laws._generation import Generation, draw_program
from lawful.laws._implementation import Implementation
from lawful.laws._law import Inapplicable, Law, LawViolation, groups, holds, laws
from lawful.laws._linearization import law_linearize_is_jvp
from lawful.laws._passes import law_passes
from lawful.laws._primitive import (
    law_primitive_algebra,
    law_primitive_reference,
    law_primitive_transpose,
    law_primitive_typing,
)
from lawful.laws._primitive_call import PrimitiveCall, draw_call
from lawful.laws._program import Program
from lawful.laws._purity import law_purity
from lawful.laws._search import (
    Drawn,
    Outcome,
    Source,
    draw_case,
    examine,
    examine_all,
    find_source,
    program_sources,
    replay_case,
    shrink,
    source_of_calls,
    source_of_programs,
)
from lawful.laws._second_order import law_second_order
from lawful.laws._strategies import arrays, avals, primitive_calls, programs
from lawful.laws._tolerance import Tolerance, tolerances
from lawful.laws._transposition import law_grad_is_vjp, law_vjp_transpose
from lawful.laws._well_typed import law_print_parse, law_typing

__all__ = [
    "Case",
    "Drawn",
    "Effort",
    "Generation",
    "HypothesisChoose",
    "Implementation",
    "Inapplicable",
    "Law",
    "LawViolation",
    "Outcome",
    "PrimitiveCall",
    "Program",
    "RandomChoose",
    "Source",
    "Tolerance",
    "arrays",
    "avals",
    "catalogue_of",
    "declared_primitives",
    "draw_call",
    "draw_case",
    "draw_program",
    "examine",
    "examine_all",
    "find_source",
    "groups",
    "holds",
    "installed_backends",
    "law_commutation",
    "law_eval_jaxpr",
    "law_grad_is_vjp",
    "law_jit_is_eager",
    "law_jvp_finite_differences",
    "law_jvp_linear",
    "law_linearize_is_jvp",
    "law_passes",
    "law_primitive_algebra",
    "law_primitive_reference",
    "law_primitive_transpose",
    "law_primitive_typing",
    "law_print_parse",
    "law_purity",
    "law_second_order",
    "law_typing",
    "law_vjp_transpose",
    "law_vmap_is_loop",
    "law_vmaps_commute",
    "laws",
    "primitive_calls",
    "program_sources",
    "programs",
    "quick",
    "replay_case",
    "shrink",
    "source_of_calls",
    "source_of_programs",
    "thorough",
    "tolerances",
    "transformations",
    "usual",
    "usual_dtypes",
    "wide_dtypes",
]
