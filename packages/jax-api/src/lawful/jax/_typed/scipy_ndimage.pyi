"""The names that `lawful.jax.scipy.ndimage` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

map_coordinates: Callable[..., Any]
