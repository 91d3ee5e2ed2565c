"""Exponentials, logarithms, and trigonometric and hyperbolic functions."""
