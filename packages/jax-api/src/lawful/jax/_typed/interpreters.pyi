"""The names that `lawful.jax.interpreters` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.interpreters import ad as ad
from lawful.jax.interpreters import batching as batching
from lawful.jax.interpreters import mlir as mlir
from lawful.jax.interpreters import partial_eval as partial_eval
from lawful.jax.interpreters import xla as xla
