"""Reductions, cumulative reductions, and orders along dimensions."""
