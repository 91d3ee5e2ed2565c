"""XLA for lawful: device arrays, and the backend that ``jit`` compiles with, on jaxlib alone."""

from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._arrays.devices import default_backend, devices
from lawful.xla_backend._arrays.dlpack import from_dlpack
from lawful.xla_backend._arrays.global_arrays import (
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from lawful.xla_backend._arrays.placed import Shard
from lawful.xla_backend._arrays.sharding import Sharding, SingleDeviceSharding
from lawful.xla_backend._arrays.transfer import block_until_ready, device_get, device_put
from lawful.xla_backend._cache.settings import CacheInfo, cache_info, set_cache_dir
from lawful.xla_backend._errors import (
    CompilationCacheWarning,
    DeletedArrayError,
    ForkedProcessError,
    LoweringError,
    PluginWarning,
    RuntimeStartedError,
    XlaError,
)
from lawful.xla_backend._lowering.context import LoweringContext
from lawful.xla_backend._programs import resharding as _resharding  # device_put of Arrays that are not on the CPU
from lawful.xla_backend._programs.backend import Backend, backend
from lawful.xla_backend._programs.compiled import Compiled
from lawful.xla_backend._programs.lowered import Lowered
from lawful.xla_backend._runtime.clients import set_cpu_device_count, started_platforms

__all__ = [
    "Array",
    "device_put",
    "device_get",
    "block_until_ready",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "make_array_from_process_local_data",
    "Sharding",
    "SingleDeviceSharding",
    "Shard",
    "devices",
    "default_backend",
    "set_cpu_device_count",
    "started_platforms",
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
    "PluginWarning",
    "RuntimeStartedError",
    "XlaError",
]

del _resharding
