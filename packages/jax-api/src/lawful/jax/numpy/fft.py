"""``jax.numpy.fft``: `lawful.numpy.fft` with JAX's eager arrays."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.numpy import fft as _fft

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.numpy_fft import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _fft)
