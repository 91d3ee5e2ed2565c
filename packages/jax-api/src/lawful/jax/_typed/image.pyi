"""The names that `lawful.jax.image` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.image._methods import ResizeMethod as ResizeMethod

resize: Callable[..., Any]
scale_and_translate: Callable[..., Any]
