"""The names that `lawful.jax.custom_batching` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax._support.custom_rules import custom_vmap as custom_vmap

sequential_vmap: Callable[..., Any]
