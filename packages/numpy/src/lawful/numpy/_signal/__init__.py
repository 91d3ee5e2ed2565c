"""Functions of samples: differences, interpolation, correlation and window functions."""
