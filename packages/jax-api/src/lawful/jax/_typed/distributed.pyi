"""The names that `lawful.jax.distributed` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

initialize: Callable[..., Any]
is_initialized: Callable[..., Any]
shutdown: Callable[..., Any]
