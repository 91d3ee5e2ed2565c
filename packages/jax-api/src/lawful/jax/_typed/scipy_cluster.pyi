"""The names that `lawful.jax.scipy.cluster` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.scipy.cluster import vq as vq
