"""The names that `lawful.jax.scipy.cluster.vq` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

vq: Callable[..., Any]
