"""``jax.dlpack``: exchange of arrays with other libraries."""

from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import dtype_functions as _dtype_functions

__getattr__, __dir__ = _namespace(__name__, _dtype_functions, _numpy)
