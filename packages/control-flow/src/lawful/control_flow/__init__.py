"""Control flow on traced values: ``cond`` and ``switch``.

>>> from lawful.control_flow import cond
>>> cond(2.0 > 1.0, lambda x: x, lambda x: -x, 5.0)
np.float64(5.0)
"""

from lawful.control_flow._cond import cond, switch
from lawful.control_flow._cond_primitive import cond_p
from lawful.control_flow._reduce import reduce, reduce_window
from lawful.control_flow._reduce_primitive import reduce_p, reduce_window_p

__all__ = [
    "cond",
    "cond_p",
    "reduce",
    "reduce_p",
    "reduce_window",
    "reduce_window_p",
    "switch",
]
