"""``jax.experimental.shard_map``: `jax.shard_map` with its older arguments."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(
    __name__, "lawful.jax._support.sharding", renamed={"shard_map": "experimental_shard_map"}, wrap=None
)
