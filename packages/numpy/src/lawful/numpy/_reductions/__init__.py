"""Sums, averages and other reductions, cumulative reductions, and those that ignore NaNs."""
