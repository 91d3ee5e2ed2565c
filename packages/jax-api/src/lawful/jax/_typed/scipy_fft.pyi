"""The names that `lawful.jax.scipy.fft` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

dct: Callable[..., Any]
dctn: Callable[..., Any]
idct: Callable[..., Any]
idctn: Callable[..., Any]
