"""``jax.experimental.checkify``: checks as values of a program."""
