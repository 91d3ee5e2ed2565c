"""The names that `lawful.jax.ad_checkpoint` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

checkpoint_name: Callable[..., Any]
checkpoint_policies: Any
name_p: Any
print_saved_residuals: Callable[..., Any]
