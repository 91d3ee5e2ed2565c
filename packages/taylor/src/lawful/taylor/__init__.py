"""Taylor mode: derivatives along a curve, up to any order, in one pass.

>>> from lawful.ops import exp
>>> from lawful.taylor import jet
>>> jet(exp, (0.0,), ([1.0, 0.0],))
(np.float64(1.0), [np.float64(1.0), np.float64(1.0)])
"""

from lawful.taylor import _elementwise_rules, _structured_rules
from lawful.taylor._jet import jet

__all__ = ["jet"]

# Their import defines the rules of the primitives.
del _elementwise_rules, _structured_rules
