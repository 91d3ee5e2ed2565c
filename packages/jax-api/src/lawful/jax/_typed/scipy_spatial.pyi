"""The names that `lawful.jax.scipy.spatial` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.scipy.spatial import transform as transform
