"""Products of vectors and matrices, and diagonals: the linear algebra outside ``numpy.linalg``."""
