"""``jax.ad_checkpoint``: rematerialization."""

import typing as _typing

from lawful import autodiff as _autodiff
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

checkpoint = remat = _transforms(_autodiff.checkpoint)

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.ad_checkpoint import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _autodiff, wrap=_transforms)
