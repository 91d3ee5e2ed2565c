"""The programs of GradBench, beside JAX and Autograd."""
