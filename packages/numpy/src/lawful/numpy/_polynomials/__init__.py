"""Polynomials as vectors of their coefficients, the highest first."""
