"""The names that `lawful.jax.dlpack` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from_dlpack: Callable[..., Any]
is_supported_dtype: Callable[..., Any]
