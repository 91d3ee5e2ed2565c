"""The names that `lawful.jax.experimental.ode` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

odeint: Callable[..., Any]
