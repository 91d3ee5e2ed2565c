"""Minimization that differentiates, batches and compiles: ``minimize`` of ``jax.scipy.optimize``.

It has BFGS only, and ``method`` must be given. Gradients come from lawful, so there is no ``jac``; nor are there
``bounds`` or ``constraints``. The result is a named tuple: read ``result.x`` and ``result.status``; there is no
``message``. For other methods, give SciPy the gradient: see the how-to "SciPy's optimizers".

>>> import lawful.numpy as np
>>> from lawful.optimize import minimize
>>> result = minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), method="BFGS")
>>> result.x, bool(result.success)
(array([3., 3.]), True)
"""

from lawful.optimize._minimize import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]
