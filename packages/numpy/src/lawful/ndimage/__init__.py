"""Interpolation of images with the names and arguments of ``scipy.ndimage``.

>>> import lawful.numpy as np
>>> from lawful.ndimage import map_coordinates
>>> map_coordinates(np.array([0.0, 10.0, 40.0]), [np.array([0.5, 1.5])], order=1)
array([ 5., 25.])
"""

from lawful.ndimage._coordinates import map_coordinates

__all__ = ["map_coordinates"]
