"""Resampling of images of any rank.

>>> import lawful.numpy as np
>>> from lawful.image import resize
>>> resize(np.array([0.0, 4.0]), (4,), "linear")
array([0., 1., 3., 4.])
"""

from lawful.image._methods import ResizeMethod
from lawful.image._resampling import resize, scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
