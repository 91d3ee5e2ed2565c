"""Universal functions: their class, their methods, and the elementwise functions."""
