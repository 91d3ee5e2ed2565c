"""The names that `lawful.jax.example_libraries` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.example_libraries import optimizers as optimizers
from lawful.jax.example_libraries import stax as stax
