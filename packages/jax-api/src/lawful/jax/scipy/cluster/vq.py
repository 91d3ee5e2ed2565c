"""``jax.scipy.cluster.vq``: `lawful.cluster.vq` with eager arrays of JAX."""

import typing as _typing

from lawful.cluster import vq as _vq
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy_cluster_vq import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _vq)
