"""XLA for lawful: device arrays, and the backend that ``jit`` compiles with, on jaxlib alone."""

from lawful.xla_backend._array import Array
from lawful.xla_backend._backend import Backend, Compiled, Lowered, backend
from lawful.xla_backend._compilation_cache import CacheInfo, cache_info, set_cache_dir
from lawful.xla_backend._context import LoweringContext
from lawful.xla_backend._errors import (
    CompilationCacheWarning,
    DeletedArrayError,
    ForkedProcessError,
    LoweringError,
    XlaError,
)
from lawful.xla_backend._transfer import (
    block_until_ready,
    default_backend,
    device_get,
    device_put,
    devices,
    from_dlpack,
)

__all__ = [
    "Array",
    "device_put",
    "device_get",
    "block_until_ready",
    "devices",
    "default_backend",
    "from_dlpack",
    "set_cache_dir",
    "cache_info",
    "CacheInfo",
    "backend",
    "Backend",
    "Lowered",
    "Compiled",
    "LoweringContext",
    "CompilationCacheWarning",
    "DeletedArrayError",
    "ForkedProcessError",
    "LoweringError",
    "XlaError",
]
