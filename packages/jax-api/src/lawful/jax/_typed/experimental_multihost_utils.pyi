"""The names that `lawful.jax.experimental.multihost_utils` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

assert_equal: Callable[..., Any]
broadcast_one_to_all: Callable[..., Any]
process_allgather: Callable[..., Any]
sync_global_devices: Callable[..., Any]
