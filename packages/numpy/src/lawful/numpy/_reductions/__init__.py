"""Sums, products and other reductions, cumulative reductions, and those that ignore NaNs."""
