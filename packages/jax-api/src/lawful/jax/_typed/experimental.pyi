"""The names that `lawful.jax.experimental` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax.experimental import checkify as checkify
from lawful.jax.experimental import jet as jet
from lawful.jax.experimental import layout as layout
from lawful.jax.experimental import mesh_utils as mesh_utils
from lawful.jax.experimental import multihost_utils as multihost_utils
from lawful.jax.experimental import ode as ode
from lawful.jax.experimental import pjit as pjit
from lawful.jax.experimental import shard_map as shard_map
from lawful.jax.experimental import sparse as sparse
from lawful.jax.experimental import xla_metadata as xla_metadata

io_callback: Callable[..., Any]
