"""The names that `lawful.jax.debug` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

visualize_array_sharding: Callable[..., Any]
visualize_sharding: Callable[..., Any]
