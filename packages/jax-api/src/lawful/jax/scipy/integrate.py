"""``jax.scipy.integrate``: the trapezoidal rule."""

from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(__name__, _numpy)
