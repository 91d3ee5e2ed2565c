"""``jax.version``: the version of JAX whose names these are."""

__version__ = "0.12.0"
__version_info__ = (0, 12, 0)
