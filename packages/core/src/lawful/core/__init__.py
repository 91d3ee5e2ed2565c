"""Primitives with their rules, traces and tracers, types, and jaxprs: what every transformation is built on.

Authors of primitives, rules and transformations import from here. Users of these rarely need to.

>>> from lawful.core import Primitive, ShapedArray
>>> double_p = Primitive("double")
>>> _ = double_p.def_impl(lambda x: x + x)
>>> double_p.bind(4.0)
8.0
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from lawful.core._errors import (
    AbsentRuleError,
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    CallbackResultError,
    ConcretizationTypeError,
    IndexTypeError,
    IntegerOverflowError,
    InvalidArgumentError,
    JaxprParseError,
    JaxprTypeError,
    LawfulError,
    MissingRuleError,
    NestingError,
    NonArrayError,
    NonFiniteError,
    NonNumberError,
    NotLinearError,
    ShapeMismatchError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TracerMaskError,
    TracerThreadError,
    TreeNodeError,
    TreeStructureError,
    TreeTransposeError,
    TreeTypeError,
    UndefinedRuleError,
    UnexpectedTracerError,
    shorten,
)
from lawful.core._garbage_collection import no_collections, rare_collections
from lawful.core._hook import Hook, is_plain, plain, plain_traces
from lawful.core._jaxpr.deduplication import deduplicated
from lawful.core._jaxpr.effects import applies_effects, has_effects
from lawful.core._jaxpr.eval import eval_closed_jaxpr, eval_jaxpr, expand_call, last_uses
from lawful.core._jaxpr.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.memoization import memoize, memoize_program
from lawful.core._jaxpr.nesting import Run, holds_constants, holds_jaxprs, jaxprs_in_params, map_jaxprs, runs_of_call
from lawful.core._jaxpr.parameter_keys import exact_params_key
from lawful.core._jaxpr.print import format_jaxpr
from lawful.core._jaxpr.varying import (
    Casts,
    common_axes,
    diverging,
    vary,
    vary_alike,
    with_axes,
    with_axes_of,
    without_axes,
    without_pvary,
)
from lawful.core._primitive.by_name import primitives_by_name
from lawful.core._primitive.declaration import Call, Choose, Declaration, Excluded, Interval, Unequal, of_numpy
from lawful.core._primitive.lookup import rule_hook
from lawful.core._primitive.primitive import Primitive
from lawful.core._primitive.rules import impure_rules, note_impure_rule, pair_of_rule
from lawful.core._trace.placement import placed
from lawful.core._trace.recursion import refuse_nesting
from lawful.core._trace.trace import EvalTrace, Trace, current, eval_trace, evaluation_hook, new_trace, set_current
from lawful.core._trace.tracer import Tracer, define_array_methods, unusable_tracer
from lawful.core._types.arrays import (
    array_types,
    as_float,
    avals_of,
    get_aval,
    is_array,
    python_scalar_types,
    register_array_type,
    to_numpy,
)
from lawful.core._types.aval import (
    AxisNames,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    instantiate_zeros,
    require_size,
    zeros,
)
from lawful.core._types.devices import check_device, register_device_type
from lawful.core._types.dtypes import (
    as_dtype,
    bfloat16,
    float0,
    is_complex,
    is_float,
    is_inexact,
    is_of_ml_dtypes,
    kind,
    promote_dtypes,
    python_scalar_dtype,
    short_name,
    supported_dtypes,
)
from lawful.tree.base import (
    Cache,
    CacheReport,
    CacheUse,
    DictCache,
    SourceLine,
    at_source,
    cache_report,
    cached_function,
    clear_caches,
    exact_key,
    lazy_imports,
    load_lazy_imports,
    record,
    register_dispatch_module,
    register_internal_module,
    source_override,
    user_source,
)

# isort: split
from lawful.core import _fast as _fast  # installs the accelerators

if _TYPE_CHECKING:
    from lawful.core._jaxpr.alpha import alpha_equivalent, explain_difference
    from lawful.core._jaxpr.parse import parse_jaxpr
    from lawful.core._jaxpr.typecheck import check_jaxpr
else:
    __getattr__, __dir__ = lazy_imports(
        __name__,
        "_jaxpr.alpha",
        "_jaxpr.parse",
        "_jaxpr.typecheck",
    )

__all__ = [
    "ArgumentIndexError",
    "AbsentRuleError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "CallbackResultError",
    "Atom",
    "Cache",
    "CacheReport",
    "CacheUse",
    "Call",
    "Casts",
    "Choose",
    "ClosedJaxpr",
    "ConcretizationTypeError",
    "IndexTypeError",
    "Declaration",
    "DictCache",
    "Hook",
    "IntegerOverflowError",
    "InvalidArgumentError",
    "Excluded",
    "Interval",
    "Jaxpr",
    "JaxprEqn",
    "JaxprParseError",
    "JaxprTypeError",
    "LawfulError",
    "Literal",
    "MissingRuleError",
    "NestingError",
    "NonArrayError",
    "NonFiniteError",
    "NonNumberError",
    "NotLinearError",
    "Primitive",
    "Run",
    "ShapeMismatchError",
    "ShapedArray",
    "SourceLine",
    "Trace",
    "Tracer",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TracerMaskError",
    "TracerThreadError",
    "TreeNodeError",
    "TreeStructureError",
    "TreeTransposeError",
    "TreeTypeError",
    "UndefinedPrimal",
    "Unequal",
    "UnexpectedTracerError",
    "UndefinedRuleError",
    "Var",
    "Zero",
    "alpha_equivalent",
    "applies_effects",
    "array_types",
    "as_dtype",
    "as_float",
    "at_source",
    "avals_of",
    "bfloat16",
    "cache_report",
    "cached_function",
    "check_device",
    "check_jaxpr",
    "clear_caches",
    "current",
    "deduplicated",
    "diverging",
    "define_array_methods",
    "eval_closed_jaxpr",
    "eval_jaxpr",
    "eval_trace",
    "EvalTrace",
    "evaluation_hook",
    "exact_key",
    "exact_params_key",
    "expand_call",
    "explain_difference",
    "float0",
    "format_jaxpr",
    "get_aval",
    "has_effects",
    "holds_constants",
    "holds_jaxprs",
    "impure_rules",
    "instantiate_zeros",
    "is_array",
    "is_complex",
    "is_float",
    "is_inexact",
    "jaxprs_in_params",
    "is_of_ml_dtypes",
    "is_plain",
    "kind",
    "last_uses",
    "load_lazy_imports",
    "map_jaxprs",
    "memoize",
    "memoize_program",
    "new_trace",
    "note_impure_rule",
    "no_collections",
    "of_numpy",
    "lazy_imports",
    "pair_of_rule",
    "parse_jaxpr",
    "source_override",
    "placed",
    "plain",
    "plain_traces",
    "primitives_by_name",
    "promote_dtypes",
    "python_scalar_dtype",
    "python_scalar_types",
    "rare_collections",
    "record",
    "register_array_type",
    "register_device_type",
    "refuse_nesting",
    "register_dispatch_module",
    "register_internal_module",
    "rule_hook",
    "runs_of_call",
    "set_current",
    "short_name",
    "shorten",
    "supported_dtypes",
    "to_numpy",
    "unusable_tracer",
    "user_source",
    "vary",
    "vary_alike",
    "with_axes",
    "with_axes_of",
    "without_axes",
    "without_pvary",
    "common_axes",
    "AxisNames",
    "require_size",
    "zeros",
]
