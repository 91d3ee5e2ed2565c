"""``jax.flatten_util``: pytrees of arrays as one vector."""

from lawful import numpy as _numpy
from lawful.jax._support.namespace import namespace as _namespace
from lawful.jax._support.wrapping import transforms as _transforms

__getattr__, __dir__ = _namespace(__name__, _numpy, wrap=_transforms)
