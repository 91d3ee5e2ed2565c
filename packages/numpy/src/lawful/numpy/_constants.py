"""Constants, and NumPy's names for dtypes that need no counterpart."""

import numpy

__all__ = ["False_", "True_", "dtype", "e", "euler_gamma", "inf", "nan", "newaxis", "pi"]

pi, e, euler_gamma = numpy.pi, numpy.e, numpy.euler_gamma
inf, nan, newaxis = numpy.inf, numpy.nan, numpy.newaxis
True_, False_ = numpy.True_, numpy.False_
dtype = numpy.dtype
