"""Tracers: their values, and traces of the operations that are applied to one.

>>> from lawful.autograd import grad
>>> grad(lambda x: x * x if getval(x) > 0.0 else x)(3.0)
np.float64(6.0)
"""

from lawful.autograd._primitive.function import getval, notrace_primitive, primitive
from lawful.autograd._tracing.node import Node, trace
from lawful.core import Tracer as Box

__all__ = ["Box", "Node", "getval", "isbox", "notrace_primitive", "primitive", "trace"]


def isbox(x: object) -> bool:
    """Whether an object is a tracer.

    >>> from lawful.autograd import grad
    >>> isbox(1.0), grad(lambda x: x if isbox(x) else 2.0 * x)(1.0)
    (False, np.float64(1.0))
    """
    return isinstance(x, Box)
