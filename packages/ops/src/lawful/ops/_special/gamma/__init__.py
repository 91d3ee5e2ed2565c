"""The gamma function, its logarithm and derivatives, and the incomplete gamma and beta functions."""
