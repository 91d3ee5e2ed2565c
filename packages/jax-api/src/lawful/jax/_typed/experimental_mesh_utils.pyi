"""The names that `lawful.jax.experimental.mesh_utils` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

create_device_mesh: Callable[..., Any]
