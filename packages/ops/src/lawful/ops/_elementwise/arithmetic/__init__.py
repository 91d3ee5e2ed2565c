"""Arithmetic: sums, products, divisions, powers, rounding and signs."""
