"""Discrete cosine transforms with the names and arguments of ``scipy.fft``; `lawful.numpy.fft` has NumPy's transforms.

>>> import lawful.numpy as np
>>> from lawful.fft import dct
>>> dct(np.array([1.0, 1.0]))
array([4., 0.])
"""

from lawful.fft._cosine import dct, dctn, idct, idctn

__all__ = ["dct", "dctn", "idct", "idctn"]
