"""Programs on many devices, beside JAX's on the same jaxlib: calls, collectives, and growth with partitions."""
