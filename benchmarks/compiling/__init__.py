"""Compilation times beside JAX's: single functions, and chains of random draws."""
