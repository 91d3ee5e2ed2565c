"""``jax.nn``: functions of neural networks, of `lawful.nn`."""

import typing as _typing

from lawful import nn as _nn
from lawful import special as _special
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.nn import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _nn, _special, submodules=("initializers",))
