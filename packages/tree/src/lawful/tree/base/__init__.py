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
from lawful.tree.base.errors import (
    ArgumentValueError,
    LawfulError,
    NestingError,
    TreeStructureError,
    TreeTypeError,
    shorten,
)
from lawful.tree.base.exact_key import PLAIN, exact_key, object_key, register_scalar_type
from lawful.tree.base.lazy import around_imports, load_on_demand, on_demand
from lawful.tree.base.record import record
from lawful.tree.base.source import SourceLine, at_source, place, register_internal_module, user_source, what_asks

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
    "TreeStructureError",
    "TreeTypeError",
    "around_imports",
    "at_source",
    "cache_report",
    "cached_function",
    "clear_caches",
    "exact_key",
    "load_on_demand",
    "object_key",
    "on_demand",
    "place",
    "record",
    "register_cache",
    "register_internal_module",
    "register_scalar_type",
    "shorten",
    "user_source",
    "what_asks",
]
