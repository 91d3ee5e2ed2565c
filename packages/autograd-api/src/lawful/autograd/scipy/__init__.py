"""The modules of SciPy that differentiate: special functions, distributions, linear algebra, convolution, equations.

What lawful has not is SciPy's own, where that is installed; most of it has no derivatives.
"""
