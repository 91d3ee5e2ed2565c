"""Namespaces of functions that compute with NumPy or SciPy, and with lawful where an argument is traced."""
