"""The names that `lawful.jax.flatten_util` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

ravel_pytree: Callable[..., Any]
