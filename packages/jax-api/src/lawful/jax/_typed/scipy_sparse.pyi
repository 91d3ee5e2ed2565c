"""The names that `lawful.jax.scipy.sparse` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.scipy.sparse import linalg as linalg
