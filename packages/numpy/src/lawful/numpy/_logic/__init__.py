"""Logic functions, bitwise operations and the parts of floating-point numbers."""
