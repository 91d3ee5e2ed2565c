"""Products of vectors and matrices, and diagonals: linear algebra outside of ``numpy.linalg``."""
