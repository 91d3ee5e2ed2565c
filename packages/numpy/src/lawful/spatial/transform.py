"""Rotations of space with the names and arguments of ``scipy.spatial.transform``.

>>> import lawful.numpy as np
>>> from lawful.spatial.transform import Rotation
>>> quarter = Rotation.from_euler("z", 90, degrees=True)
>>> np.round(quarter.apply(np.array([1.0, 0.0, 0.0])), 12)
array([0., 1., 0.])
"""

from lawful.spatial._rotation import Rotation
from lawful.spatial._slerp import Slerp

__all__ = ["Rotation", "Slerp"]
