"""The names that `lawful.jax.scipy.sparse.linalg` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

bicgstab: Callable[..., Any]
cg: Callable[..., Any]
gmres: Callable[..., Any]
