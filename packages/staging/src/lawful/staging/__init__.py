"""Programs as data: ``make_jaxpr``, passes over jaxprs, and ``jit`` with the backends that it compiles by.

>>> import numpy as np
>>> from lawful.ops import mul
>>> from lawful.staging import make_jaxpr
>>> make_jaxpr(lambda x: mul(x, x))(np.float64(3.0))
{ lambda ; a:f64[]. let b:f64[] = mul a a in (b,) }
"""

import typing as _typing

from lawful.core import cache_report, clear_caches
from lawful.core import environment_switch as _environment_switch
from lawful.core import lazy_imports as _lazy_imports
from lawful.staging._analyzed_call import AnalyzedCall, declare_statics, declared_statics
from lawful.staging._backends import (
    Backend,
    CompiledProgram,
    CompilerOptions,
    LoweredProgram,
    MissingBackendError,
    get_backend,
    register_backend,
)
from lawful.staging._common_axes import with_common_axes
from lawful.staging._constants import Constants
from lawful.staging._equations import eval_call, operands_of_call
from lawful.staging._jit.ahead_of_time import Compiled, Lowered, Traced
from lawful.staging._jit.cache_misses import CacheMiss, explain_cache_misses, set_explain_cache_misses
from lawful.staging._jit.compiling import compiling
from lawful.staging._jit.disable import disable_jit, is_jit_disabled, known_value, set_jit_disabled
from lawful.staging._jit.inline import inline_jaxpr
from lawful.staging._jit.jit import JitFunction
from lawful.staging._jit.primitive import jit_p
from lawful.staging._jit.shardings import register_shardings
from lawful.staging._liveness import live_equation
from lawful.staging._make_jaxpr import ShapeDtypeStruct, eval_shape, trace_call, trace_tree
from lawful.staging._numpy_backend.program import numpy_backend
from lawful.staging._numpy_backend.source import numpy_function
from lawful.staging._ownership import copy_aliased, memory_owner, read_only
from lawful.staging._passes.cse import cse_jaxpr
from lawful.staging._passes.dce import dce_call, dce_jaxpr, kept, merge_lists, used_inputs, without_effects
from lawful.staging._passes.hoisting import consts_as_inputs, hoist_call, hoist_common, hoist_groups
from lawful.staging._passes.partial_eval import Split, partial_eval_jaxpr
from lawful.staging._recorder import (
    JaxprTrace,
    JaxprTracer,
    PartialTrace,
    trace_to_jaxpr,
)
from lawful.staging._signature import (
    Statics,
    argument_names,
    as_tuple,
    describe_argument,
    flatten_outputs,
    function_name,
    in_avals,
    merge,
    require_callable,
    require_usable,
    statics_of,
)

# isort: split
from lawful.staging import _fast as _fast  # installs the accelerators

if _typing.TYPE_CHECKING:
    from lawful.staging._callbacks.host_function import EachElement, HostCall, HostFunction, call_each_element
    from lawful.staging._callbacks.io_callback import io_callback, io_callback_p
    from lawful.staging._callbacks.pure_callback import pure_callback, pure_callback_p
    from lawful.staging._nans.blame import Blame
    from lawful.staging._nans.blame_nan import blame_nan
    from lawful.staging._nans.checks import debug_nans, set_debug_nans
    from lawful.staging._nans.observation import observation, rule_lookups
    from lawful.staging._typed import jit, make_jaxpr
else:
    from lawful.staging._jit.jit import jit
    from lawful.staging._make_jaxpr import make_jaxpr

    __getattr__, __dir__ = _lazy_imports(
        __name__,
        "_callbacks.host_function",
        "_callbacks.io_callback",
        "_callbacks.pure_callback",
        "_nans.blame",
        "_nans.blame_nan",
        "_nans.checks",
        "_nans.observation",
    )
    if (_wanted := _environment_switch("LAWFUL_DEBUG_NANS", "infs")) is not None:
        from lawful.staging._nans.checks import set_debug_nans

        set_debug_nans(True, _wanted == "infs")

__all__ = [
    "AnalyzedCall",
    "Backend",
    "Blame",
    "CacheMiss",
    "Compiled",
    "CompiledProgram",
    "CompilerOptions",
    "Constants",
    "EachElement",
    "HostCall",
    "HostFunction",
    "JaxprTrace",
    "JaxprTracer",
    "JitFunction",
    "Lowered",
    "LoweredProgram",
    "MissingBackendError",
    "PartialTrace",
    "ShapeDtypeStruct",
    "Split",
    "Statics",
    "Traced",
    "argument_names",
    "as_tuple",
    "blame_nan",
    "cache_report",
    "call_each_element",
    "clear_caches",
    "compiling",
    "consts_as_inputs",
    "cse_jaxpr",
    "dce_call",
    "dce_jaxpr",
    "debug_nans",
    "declare_statics",
    "declared_statics",
    "describe_argument",
    "eval_call",
    "eval_shape",
    "explain_cache_misses",
    "flatten_outputs",
    "read_only",
    "function_name",
    "get_backend",
    "hoist_call",
    "hoist_common",
    "hoist_groups",
    "in_avals",
    "inline_jaxpr",
    "is_jit_disabled",
    "jit",
    "known_value",
    "disable_jit",
    "set_debug_nans",
    "set_explain_cache_misses",
    "set_jit_disabled",
    "jit_p",
    "kept",
    "live_equation",
    "make_jaxpr",
    "merge",
    "merge_lists",
    "numpy_backend",
    "numpy_function",
    "observation",
    "memory_owner",
    "copy_aliased",
    "operands_of_call",
    "partial_eval_jaxpr",
    "io_callback",
    "io_callback_p",
    "pure_callback",
    "pure_callback_p",
    "register_backend",
    "register_shardings",
    "require_callable",
    "require_usable",
    "rule_lookups",
    "statics_of",
    "trace_call",
    "trace_to_jaxpr",
    "trace_tree",
    "used_inputs",
    "with_common_axes",
    "without_effects",
]
