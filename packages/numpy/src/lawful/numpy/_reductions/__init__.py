"""Sums, averages and other reductions, cumulative reductions, and reductions that ignore NaNs."""
