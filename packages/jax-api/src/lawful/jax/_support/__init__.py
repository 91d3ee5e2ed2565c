"""The machinery of `lawful.jax`: the table of names, the eager array, and the wrappers that return it."""
