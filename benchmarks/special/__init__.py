"""Special functions and linear algebra beside JAX, SciPy, NumPy and Autograd."""
