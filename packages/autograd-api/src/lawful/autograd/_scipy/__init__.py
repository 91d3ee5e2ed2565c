"""SciPy's functions that lawful has none of its own for, with derivatives where these exist."""
