"""``jax._src.dispatch``: waiting for effects."""

from lawful.jax._support.general import effects_barrier as wait_for_tokens

__all__ = ["wait_for_tokens"]
