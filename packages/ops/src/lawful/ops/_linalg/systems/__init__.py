"""Systems of linear equations, and the LU decomposition that solves them."""
