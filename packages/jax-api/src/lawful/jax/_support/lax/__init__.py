"""Names of `jax.lax` that no package of lawful has in JAX's form, and its primitives."""
