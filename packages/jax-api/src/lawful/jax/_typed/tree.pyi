"""The names that `lawful.jax.tree` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

all: Callable[..., Any]
broadcast: Callable[..., Any]
flatten: Callable[..., Any]
flatten_with_path: Callable[..., Any]
leaves: Callable[..., Any]
leaves_with_path: Callable[..., Any]
map: Callable[..., Any]
map_with_path: Callable[..., Any]
reduce: Callable[..., Any]
reduce_associative: Callable[..., Any]
static: Callable[..., Any]
structure: Callable[..., Any]
transpose: Callable[..., Any]
unflatten: Callable[..., Any]
