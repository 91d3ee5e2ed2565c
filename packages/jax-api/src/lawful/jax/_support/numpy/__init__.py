"""Names of `jax.numpy` that no package of lawful has in JAX's form: creation, products, dtypes, ufuncs."""
