"""``jax.scipy.integrate``: the trapezoidal rule."""

import typing as _typing

from lawful import numpy as _numpy
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_integrate import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _numpy)
