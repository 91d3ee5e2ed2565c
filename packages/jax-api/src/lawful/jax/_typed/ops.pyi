"""The names that `lawful.jax.ops` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

segment_max: Callable[..., Any]
segment_min: Callable[..., Any]
segment_prod: Callable[..., Any]
segment_sum: Callable[..., Any]
