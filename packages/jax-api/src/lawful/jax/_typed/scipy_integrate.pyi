"""The names that `lawful.jax.scipy.integrate` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

trapezoid: Callable[..., Any]
