"""The base of every package of lawful: errors with the user's line, records, lazy imports, exact keys.

`lawful.core` gives these names to whoever writes primitives and transformations.
"""

from lawful.tree.base.cache import (
    Cache,
    CacheReport,
    CacheUse,
    DictCache,
    cache_report,
    cached_function,
    clear_caches,
    register_cache,
)
from lawful.tree.base.callers import called_function, numpy_caller, public_caller
from lawful.tree.base.children import run_in_children
from lawful.tree.base.environment import environment_switch
from lawful.tree.base.errors import (
    ArgumentValueError,
    LawfulError,
    NestingError,
    TreeNodeError,
    TreeStructureError,
    TreeTransposeError,
    TreeTypeError,
    shorten,
)
from lawful.tree.base.exact_key import PLAIN, exact_key, object_key, register_scalar_type
from lawful.tree.base.lazy import around_imports, lazy_imports, load_lazy_imports
from lawful.tree.base.record import record
from lawful.tree.base.source import (
    SourceLine,
    at_rule,
    at_source,
    call_in_rule,
    is_internal_file,
    register_dispatch_module,
    register_internal_file,
    register_internal_module,
    source_override,
    user_source,
)

__all__ = [
    "PLAIN",
    "ArgumentValueError",
    "Cache",
    "CacheReport",
    "CacheUse",
    "DictCache",
    "LawfulError",
    "NestingError",
    "SourceLine",
    "TreeNodeError",
    "TreeStructureError",
    "TreeTransposeError",
    "TreeTypeError",
    "around_imports",
    "at_rule",
    "at_source",
    "cache_report",
    "cached_function",
    "call_in_rule",
    "clear_caches",
    "environment_switch",
    "exact_key",
    "load_lazy_imports",
    "object_key",
    "is_internal_file",
    "lazy_imports",
    "source_override",
    "record",
    "register_cache",
    "register_dispatch_module",
    "register_internal_file",
    "register_internal_module",
    "register_scalar_type",
    "shorten",
    "user_source",
    "called_function",
    "run_in_children",
    "numpy_caller",
    "public_caller",
]
