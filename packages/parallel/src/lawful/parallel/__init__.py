"""Many devices: meshes, sharded arrays, and programs that run on all devices at once.

>>> from lawful.parallel import NamedSharding, PartitionSpec as P, make_mesh, numpy_devices
>>> mesh = make_mesh((4,), ("x",), devices=numpy_devices(4))
>>> NamedSharding(mesh, P("x")).shard_shape((8, 3))
(2, 3)
"""

import typing as _typing

from lawful.parallel._mesh.devices import (
    Device,
    NumpyDevice,
    device_count,
    devices,
    local_device_count,
    local_devices,
    numpy_devices,
    process_count,
    process_index,
    set_cpu_device_count,
)
from lawful.parallel._mesh.mesh import AbstractMesh, AxisType, Mesh, get_mesh, make_mesh, set_mesh
from lawful.parallel._mesh.partition_spec import PartitionSpec
from lawful.parallel._mesh.sharding import NamedSharding
from lawful.parallel._mesh.visualize import draw_array_sharding, visualize_array_sharding, visualize_sharding
from lawful.parallel._pmap.primitive import xla_pmap_p
from lawful.parallel._processes.errors import (
    ProcessEndedError,
    ProcessError,
    ProcessMismatchError,
    ProcessTimeoutError,
)
from lawful.parallel._processes.group import initialize, is_initialized, shutdown
from lawful.parallel._processes.host_values import (
    assert_equal,
    broadcast_one_to_all,
    process_allgather,
    sync_global_devices,
)
from lawful.parallel._shard_map import rules as _rules  # defines the rules of the primitive
from lawful.parallel._shard_map.primitive import shard_map_p
from lawful.parallel._sharded_jit.constraint import sharding_constraint_p, with_sharding_constraint
from lawful.parallel._sharded_jit.jit import ShardedFunction as _ShardedFunction
from lawful.staging import register_shardings as _register_shardings

if _typing.TYPE_CHECKING:
    from lawful.parallel._typed import pmap, shard_map
else:
    from lawful.parallel._pmap.pmap import pmap
    from lawful.parallel._shard_map.shard_map import shard_map

#: The common short name of `PartitionSpec`.
P = PartitionSpec

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Device",
    "Mesh",
    "NamedSharding",
    "NumpyDevice",
    "P",
    "PartitionSpec",
    "ProcessEndedError",
    "ProcessError",
    "ProcessMismatchError",
    "ProcessTimeoutError",
    "assert_equal",
    "broadcast_one_to_all",
    "device_count",
    "draw_array_sharding",
    "devices",
    "get_mesh",
    "initialize",
    "is_initialized",
    "local_device_count",
    "local_devices",
    "make_mesh",
    "numpy_devices",
    "pmap",
    "process_allgather",
    "process_count",
    "process_index",
    "set_cpu_device_count",
    "set_mesh",
    "shard_map",
    "shard_map_p",
    "sharding_constraint_p",
    "shutdown",
    "sync_global_devices",
    "visualize_array_sharding",
    "visualize_sharding",
    "with_sharding_constraint",
    "xla_pmap_p",
]

_register_shardings(_ShardedFunction)

del _register_shardings, _rules, _ShardedFunction
