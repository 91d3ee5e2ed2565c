"""Minimization with the names and arguments of ``scipy.optimize``.

>>> import lawful.numpy as np
>>> from lawful.optimize import minimize
>>> result = minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), method="BFGS")
>>> result.x, bool(result.success)
(array([3., 3.]), True)
"""

from lawful.optimize._minimize import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]
