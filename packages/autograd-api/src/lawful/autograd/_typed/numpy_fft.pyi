"""The names that `lawful.autograd.numpy.fft` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

fft: Callable[..., Any]
fft2: Callable[..., Any]
fftfreq: Callable[..., Any]
fftn: Callable[..., Any]
fftshift: Callable[..., Any]
hfft: Callable[..., Any]
ifft: Callable[..., Any]
ifft2: Callable[..., Any]
ifftn: Callable[..., Any]
ifftshift: Callable[..., Any]
ihfft: Callable[..., Any]
irfft: Callable[..., Any]
irfft2: Callable[..., Any]
irfftn: Callable[..., Any]
rfft: Callable[..., Any]
rfft2: Callable[..., Any]
rfftfreq: Callable[..., Any]
rfftn: Callable[..., Any]
test: Any
