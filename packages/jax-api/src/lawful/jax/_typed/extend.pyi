"""The names that `lawful.jax.extend` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.extend import core as core
from lawful.jax.extend import linear_util as linear_util
from lawful.jax.extend import source_info_util as source_info_util
