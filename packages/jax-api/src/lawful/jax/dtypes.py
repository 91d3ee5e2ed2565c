"""``jax.dtypes``: element types."""

from lawful import core as _core
from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import dtype_functions as _dtype_functions

__getattr__, __dir__ = _namespace(__name__, _dtype_functions, _core, _numpy, wrap=None)
