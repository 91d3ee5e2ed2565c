"""Laws of single primitives, and the arguments that they are called with."""
