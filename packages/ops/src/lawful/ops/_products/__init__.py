"""Products of vectors, matrices and arrays of more dimensions."""
