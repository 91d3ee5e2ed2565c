"""``jax.experimental``: callbacks, Taylor mode, differential equations, meshes, processes, labels without effect."""

import typing as _typing

from lawful import staging as _staging
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        _staging,
        submodules=(
            "checkify",
            "jet",
            "layout",
            "mesh_utils",
            "multihost_utils",
            "ode",
            "pjit",
            "shard_map",
            "sparse",
            "xla_metadata",
        ),
    )
