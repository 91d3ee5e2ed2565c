"""``jax.experimental.shard_map``: `jax.shard_map` with its older arguments."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_shard_map import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__, "lawful.jax._support.sharding", renamed={"shard_map": "experimental_shard_map"}, wrap=None
    )
