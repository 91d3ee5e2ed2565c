"""``jax.numpy.fft``: `lawful.numpy.fft` with JAX's eager arrays."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.numpy import fft as _fft

__getattr__, __dir__ = _namespace(__name__, _fft)
