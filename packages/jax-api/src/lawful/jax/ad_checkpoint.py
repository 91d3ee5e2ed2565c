"""``jax.ad_checkpoint``: rematerialization."""

from lawful import autodiff as _autodiff
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

checkpoint = remat = _transforms(_autodiff.checkpoint)

__getattr__, __dir__ = _namespace(__name__, _autodiff, wrap=_transforms)
