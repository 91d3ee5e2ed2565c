"""``jax.dtypes``: element types."""

import typing as _typing

from lawful import core as _core
from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.numpy import dtype_functions as _dtype_functions

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.dtypes import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _dtype_functions, _core, _numpy, wrap=None)
