"""What the modules of `scipy` have beside lawful's own functions: SciPy's, with derivatives where there are any."""
