"""Modules with JAX's names: the table of names, and the wrappers that take JAX's keywords and return Arrays."""
