"""The names that `lawful.jax.experimental.pjit` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

pjit: Callable[..., Any]
