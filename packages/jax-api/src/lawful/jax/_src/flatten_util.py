"""``jax._src.flatten_util``: `jax.flatten_util`, which blackjax imports from here."""

from lawful.jax.flatten_util import ravel_pytree

__all__ = ["ravel_pytree"]
