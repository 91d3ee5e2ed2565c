"""Interpolation with the names and arguments of ``scipy.interpolate``.

>>> import lawful.numpy as np
>>> from lawful.interpolate import RegularGridInterpolator
>>> RegularGridInterpolator((np.array([0.0, 1.0, 3.0]),), np.array([0.0, 10.0, 40.0]))(np.array([[0.5], [2.0]]))
array([ 5., 25.])
"""

from lawful.interpolate._regular_grid import RegularGridInterpolator

__all__ = ["RegularGridInterpolator"]
