"""``jax.image``: `lawful.image` with eager arrays of JAX."""

import typing as _typing

from lawful import image as _image
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.image import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _image)
