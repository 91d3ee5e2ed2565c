"""The names that `lawful.jax.scipy.signal` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

convolve: Callable[..., Any]
convolve2d: Callable[..., Any]
correlate: Callable[..., Any]
correlate2d: Callable[..., Any]
csd: Callable[..., Any]
detrend: Callable[..., Any]
fftconvolve: Callable[..., Any]
istft: Callable[..., Any]
stft: Callable[..., Any]
welch: Callable[..., Any]
