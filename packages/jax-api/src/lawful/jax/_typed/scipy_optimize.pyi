"""The names that `lawful.jax.scipy.optimize` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.optimize._minimize import OptimizeResults as OptimizeResults

minimize: Callable[..., Any]
