"""``jax.dlpack``: exchange of arrays with other libraries."""

import typing as _typing

from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import dtype_functions as _dtype_functions

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.dlpack import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _dtype_functions, _numpy)
