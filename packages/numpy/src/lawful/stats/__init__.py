"""Statistics of samples with the names and arguments of ``scipy.stats``; `lawful.special.stats` has distributions.

>>> import lawful.numpy as np
>>> from lawful.stats import rankdata
>>> rankdata(np.array([5.0, 2.0, 5.0]))
array([2.5, 1. , 2.5])
"""

from lawful.stats._kernel_density import gaussian_kde
from lawful.stats._samples import ModeResult, mode, rankdata, sem

__all__ = ["ModeResult", "gaussian_kde", "mode", "rankdata", "sem"]
