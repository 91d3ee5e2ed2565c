"""``jax.typing``: annotations of arguments.

>>> from lawful.jax.typing import ArrayLike
"""

import numpy
from numpy.typing import DTypeLike as DTypeLike

from lawful.jax._support.array import Array

# Classes, not generic types: jaxtyping asks what they are subclasses of.
ArrayLike = Array | numpy.ndarray | numpy.bool_ | numpy.number | bool | int | float | complex

__all__ = ["ArrayLike", "DTypeLike"]
