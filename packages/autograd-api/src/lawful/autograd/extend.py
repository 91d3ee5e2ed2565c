"""Extensions of lawful.autograd: primitives with derivatives, and vector spaces.

>>> import numpy
>>> from lawful.autograd import grad
>>> @primitive
... def cube(x):
...     return x**3
>>> defvjp(cube, lambda ans, x: lambda g: 3.0 * g * x**2)
>>> grad(cube)(2.0)
np.float64(12.0)
"""

from lawful.autograd._primitive.bind import SparseObject
from lawful.autograd._primitive.function import notrace_primitive, primitive
from lawful.autograd._primitive.rules import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
)
from lawful.autograd._primitive.vector_space import VSpace, vspace
from lawful.core import Tracer as Box

__all__ = [
    "Box",
    "SparseObject",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "notrace_primitive",
    "primitive",
    "vspace",
]
