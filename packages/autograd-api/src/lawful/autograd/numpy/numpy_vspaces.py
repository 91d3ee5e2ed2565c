"""The vector spaces of arrays."""

from lawful.autograd._primitive.vector_space import ArrayVSpace, ComplexArrayVSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace"]
