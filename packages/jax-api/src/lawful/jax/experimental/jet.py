"""``jax.experimental.jet``: derivatives along a curve, of `lawful.taylor`."""

import typing as _typing

from lawful import taylor as _taylor
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_jet import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _taylor, wrap=_transforms)
