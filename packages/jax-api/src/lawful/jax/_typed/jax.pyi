"""The names that `lawful.jax` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax import ad_checkpoint as ad_checkpoint
from lawful.jax import api_util as api_util
from lawful.jax import core as core
from lawful.jax import custom_batching as custom_batching
from lawful.jax import custom_derivatives as custom_derivatives
from lawful.jax import debug as debug
from lawful.jax import distributed as distributed
from lawful.jax import dlpack as dlpack
from lawful.jax import example_libraries as example_libraries
from lawful.jax import experimental as experimental
from lawful.jax import extend as extend
from lawful.jax import flatten_util as flatten_util
from lawful.jax import image as image
from lawful.jax import interpreters as interpreters
from lawful.jax import scipy as scipy
from lawful.jax import sharding as sharding
from lawful.jax import stages as stages
from lawful.jax import test_util as test_util
from lawful.jax import version as version
from lawful.parallel._mesh.devices import Device as Device
from lawful.parallel._mesh.mesh import set_mesh as set_mesh
from lawful.parallel._mesh.partition_spec import PartitionSpec as _P
from lawful.parallel._mesh.sharding import NamedSharding as NamedSharding
from lawful.staging._make_jaxpr import ShapeDtypeStruct as ShapeDtypeStruct
from lawful.xla_backend._arrays.placed import Shard as Shard

P = _P
block_until_ready: Callable[..., Any]
check_tracer_leaks: Callable[..., Any]
checking_leaks: Callable[..., Any]
checkpoint_policies: Any
clear_caches: Callable[..., Any]
closure_convert: Callable[..., Any]
copy_to_host_async: Callable[..., Any]
custom_gradient: Callable[..., Any]
debug_infs: Callable[..., Any]
debug_key_reuse: Callable[..., Any]
debug_nans: Callable[..., Any]
default_backend: Callable[..., Any]
default_device: Callable[..., Any]
default_matmul_precision: Callable[..., Any]
default_prng_impl: Callable[..., Any]
device_count: Callable[..., Any]
device_get: Callable[..., Any]
device_put: Callable[..., Any]
devices: Callable[..., Any]
disable_jit: Callable[..., Any]
effects_barrier: Callable[..., Any]
enable_checks: Callable[..., Any]
enable_custom_prng: Callable[..., Any]
enable_x64: Callable[..., Any]
ensure_compile_time_eval: Callable[..., Any]
explain_cache_misses: Callable[..., Any]
float0: Any
get_abstract_mesh: Callable[..., Any]
get_mesh: Callable[..., Any]
host_count: Callable[..., Any]
host_id: Callable[..., Any]
host_ids: Callable[..., Any]
jacobian: Callable[..., Any]
legacy_prng_key: Callable[..., Any]
linear_transpose: Callable[..., Any]
local_device_count: Callable[..., Any]
local_devices: Callable[..., Any]
log_compiles: Callable[..., Any]
make_array_from_callback: Callable[..., Any]
make_array_from_process_local_data: Callable[..., Any]
make_array_from_single_device_arrays: Callable[..., Any]
make_mesh: Callable[..., Any]
named_call: Callable[..., Any]
named_scope: Callable[..., Any]
numpy_dtype_promotion: Callable[..., Any]
numpy_rank_promotion: Callable[..., Any]
pmap: Callable[..., Any]
print_environment_info: Callable[..., Any]
process_count: Callable[..., Any]
process_index: Callable[..., Any]
process_indices: Callable[..., Any]
pure_callback: Callable[..., Any]
remat: Callable[..., Any]
reshard: Callable[..., Any]
shard_map: Callable[..., Any]
smap: Callable[..., Any]
softmax_custom_jvp: Callable[..., Any]
threefry_partitionable: Callable[..., Any]
transfer_guard: Callable[..., Any]
transfer_guard_device_to_device: Callable[..., Any]
transfer_guard_device_to_host: Callable[..., Any]
transfer_guard_host_to_device: Callable[..., Any]
typeof: Callable[..., Any]
