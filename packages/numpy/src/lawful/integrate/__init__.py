"""Solutions of ordinary differential equations.

>>> import lawful.numpy as np
>>> from lawful.integrate import odeint
>>> odeint(lambda y, t: -y, np.array([1.0]), np.array([0.0, 1.0]))[-1]
array([0.36787944])
"""

from lawful.integrate._odeint import odeint

__all__ = ["odeint"]
