"""The names that `lawful.jax.experimental.shard_map` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

shard_map: Callable[..., Any]
