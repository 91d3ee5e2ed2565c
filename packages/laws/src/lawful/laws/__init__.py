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

from lawful.laws._checks.check import check, check_primitive
from lawful.laws._checks.check_grads import check_grads
from lawful.laws._checks.check_rules import check_jvp, check_vjp
from lawful.laws._checks.differential import agreement_law, compare_systems
from lawful.laws._checks.groups import check_groups, core_groups
from lawful.laws._checks.report import LawReport, Refused, Report
from lawful.laws._composition.associative_scan import law_associative_scan_is_loop
from lawful.laws._composition.batching import law_vmap_is_loop, law_vmaps_commute
from lawful.laws._composition.choices import law_batched_cond_is_choice, law_cond_is_branch
from lawful.laws._composition.commutation import law_commutation, transformations
from lawful.laws._composition.loops import (
    law_batched_while_is_choice,
    law_map_is_stack,
    law_scan_is_loop,
    law_while_is_loop,
)
from lawful.laws._derivatives.chain import law_chain_rule
from lawful.laws._derivatives.cotangents import law_tangent_types, law_vjp_linear
from lawful.laws._derivatives.forward import law_jvp_finite_differences, law_jvp_linear
from lawful.laws._derivatives.linearization import law_linearize_is_jvp
from lawful.laws._derivatives.second_order import law_second_order
from lawful.laws._derivatives.taylor import law_jet_is_nested_jvp
from lawful.laws._derivatives.transposition import law_grad_is_vjp, law_vjp_transpose
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort, default_effort, quick, set_default_effort, thorough, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law, LawViolation, groups, holds, laws
from lawful.laws._law.tolerance import Tolerance, tolerances
from lawful.laws._primitives.call import PrimitiveCall, draw_call
from lawful.laws._primitives.edges import law_empty_batches, law_special_values
from lawful.laws._primitives.primitive import (
    law_primitive_algebra,
    law_primitive_reference,
    law_primitive_specialised,
    law_primitive_traced_rules,
    law_primitive_transpose,
    law_primitive_typing,
)
from lawful.laws._primitives.special_points import law_primitive_special_points
from lawful.laws._primitives.special_transposes import law_primitive_special_transpose
from lawful.laws._programs.catalogue import catalogue_for, catalogue_of, declared_primitives
from lawful.laws._programs.choose import HypothesisChoose, RandomChoose, ReplayChoose, usual_dtypes, wide_dtypes
from lawful.laws._programs.form import Form, forms, forms_of
from lawful.laws._programs.program import Program
from lawful.laws._programs.pytree import Pair
from lawful.laws._purity.equal_values import law_equal_values_are_told_apart
from lawful.laws._purity.leaks import law_nothing_survives, law_threads_agree
from lawful.laws._purity.mistakes import law_errors_name_their_place
from lawful.laws._purity.purity import law_purity
from lawful.laws._purity.state_in_rules import law_rules_read_state
from lawful.laws._search.failures import (
    Failure,
    FailureDatabase,
    count_primitives,
    efforts,
    examine_again,
    failure_of,
    primitives_of,
    program_text,
    versions,
)
from lawful.laws._search.generation import Generation, draw_program
from lawful.laws._search.restriction import generation_for
from lawful.laws._search.sampling import sampled_backend, sampled_effort
from lawful.laws._search.search import Drawn, Outcome, draw_case, examine, examine_all, replay_case, shrink
from lawful.laws._search.sources import (
    LAWS_AT_SPECIAL_POINTS,
    Source,
    find_source,
    program_sources,
    source_of_calls,
    source_of_programs,
    source_of_special_calls,
    sources_for,
)
from lawful.laws._search.strategies import arrays, avals, primitive_calls, programs, pytrees
from lawful.laws._sharding.collectives import law_collectives_are_definitions, law_collectives_transpose
from lawful.laws._sharding.cost import law_gradient_collectives
from lawful.laws._sharding.mapping import law_shard_map_derivatives, law_shard_map_is_vmap, law_shard_map_types
from lawful.laws._sharding.pmapping import law_pmap_is_vmap
from lawful.laws._sharding.sharded import law_resharding_is_identity, law_sharded_jit_is_jit
from lawful.laws._staging.cost import law_bounded_residuals, law_cheap_gradient, law_linear_tracing
from lawful.laws._staging.evaluation import installed_backends, law_eval_jaxpr, law_jit_is_eager
from lawful.laws._staging.kinds import law_kinds_agree
from lawful.laws._staging.layers import law_layers_agree
from lawful.laws._staging.passes import law_passes
from lawful.laws._staging.rerolling import law_rerolling
from lawful.laws._staging.typing import law_print_parse, law_typing

__all__ = [
    "LAWS_AT_SPECIAL_POINTS",
    "Case",
    "Drawn",
    "Effort",
    "Failure",
    "FailureDatabase",
    "Form",
    "Generation",
    "HypothesisChoose",
    "Implementation",
    "Inapplicable",
    "Law",
    "LawReport",
    "LawViolation",
    "Outcome",
    "Pair",
    "PrimitiveCall",
    "Program",
    "RandomChoose",
    "Refused",
    "ReplayChoose",
    "Report",
    "Source",
    "Tolerance",
    "agreement_law",
    "arrays",
    "avals",
    "catalogue_for",
    "catalogue_of",
    "check",
    "check_grads",
    "check_groups",
    "check_jvp",
    "check_primitive",
    "check_vjp",
    "compare_systems",
    "core_groups",
    "count_primitives",
    "declared_primitives",
    "default_effort",
    "draw_call",
    "draw_case",
    "draw_program",
    "efforts",
    "examine",
    "examine_again",
    "examine_all",
    "failure_of",
    "find_source",
    "forms",
    "forms_of",
    "generation_for",
    "groups",
    "holds",
    "installed_backends",
    "law_associative_scan_is_loop",
    "law_batched_cond_is_choice",
    "law_batched_while_is_choice",
    "law_bounded_residuals",
    "law_chain_rule",
    "law_cheap_gradient",
    "law_commutation",
    "law_cond_is_branch",
    "law_empty_batches",
    "law_errors_name_their_place",
    "law_eval_jaxpr",
    "law_grad_is_vjp",
    "law_jet_is_nested_jvp",
    "law_jit_is_eager",
    "law_layers_agree",
    "law_jvp_finite_differences",
    "law_jvp_linear",
    "law_linear_tracing",
    "law_kinds_agree",
    "law_linearize_is_jvp",
    "law_map_is_stack",
    "law_nothing_survives",
    "law_passes",
    "law_rerolling",
    "law_primitive_algebra",
    "law_primitive_reference",
    "law_primitive_special_points",
    "law_primitive_special_transpose",
    "law_primitive_specialised",
    "law_primitive_traced_rules",
    "law_primitive_transpose",
    "law_primitive_typing",
    "law_print_parse",
    "law_purity",
    "law_rules_read_state",
    "law_equal_values_are_told_apart",
    "law_scan_is_loop",
    "law_collectives_are_definitions",
    "law_collectives_transpose",
    "law_gradient_collectives",
    "law_pmap_is_vmap",
    "law_resharding_is_identity",
    "law_shard_map_derivatives",
    "law_shard_map_is_vmap",
    "law_shard_map_types",
    "law_sharded_jit_is_jit",
    "law_second_order",
    "law_special_values",
    "law_tangent_types",
    "law_threads_agree",
    "law_typing",
    "law_vjp_linear",
    "law_vjp_transpose",
    "law_vmap_is_loop",
    "law_vmaps_commute",
    "law_while_is_loop",
    "laws",
    "primitive_calls",
    "primitives_of",
    "program_sources",
    "program_text",
    "programs",
    "pytrees",
    "quick",
    "replay_case",
    "sampled_backend",
    "sampled_effort",
    "set_default_effort",
    "shrink",
    "source_of_calls",
    "source_of_programs",
    "source_of_special_calls",
    "sources_for",
    "thorough",
    "tolerances",
    "transformations",
    "usual",
    "usual_dtypes",
    "versions",
    "wide_dtypes",
]
