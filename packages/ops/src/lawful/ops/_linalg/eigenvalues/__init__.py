"""Eigenvalues, and the reductions of matrices by which they are computed."""
