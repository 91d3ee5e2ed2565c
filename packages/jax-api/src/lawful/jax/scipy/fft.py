"""``jax.scipy.fft``: `lawful.fft` with JAX's arguments and eager arrays."""

from lawful import fft as _fft
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _fft)
