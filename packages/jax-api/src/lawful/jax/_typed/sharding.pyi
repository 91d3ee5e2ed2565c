"""The names that `lawful.jax.sharding` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.parallel._mesh.mesh import AbstractMesh as AbstractMesh
from lawful.parallel._mesh.mesh import AxisType as AxisType
from lawful.parallel._mesh.mesh import Mesh as Mesh
from lawful.parallel._mesh.mesh import set_mesh as set_mesh
from lawful.parallel._mesh.partition_spec import PartitionSpec as PartitionSpec
from lawful.parallel._mesh.sharding import NamedSharding as NamedSharding
from lawful.xla_backend._arrays.sharding import Sharding as Sharding
from lawful.xla_backend._arrays.sharding import SingleDeviceSharding as SingleDeviceSharding
from lawful.xla_backend._arrays.sharding import SingleDeviceSharding as _make_single_device_sharding

make_single_device_sharding = _make_single_device_sharding
auto_axes: Callable[..., Any]
explicit_axes: Callable[..., Any]
get_abstract_mesh: Callable[..., Any]
get_mesh: Callable[..., Any]
reshard: Callable[..., Any]
