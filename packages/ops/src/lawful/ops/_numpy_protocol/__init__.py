"""NumPy's protocols for tracers: ufuncs, functions, methods, reductions and the array namespace."""
