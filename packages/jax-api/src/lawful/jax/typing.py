"""``jax.typing``: annotations of arguments.

>>> from lawful.jax.typing import ArrayLike
"""

from typing import Any

import numpy
from numpy.typing import DTypeLike as DTypeLike

from lawful.jax._support.array import Array

ArrayLike = Array | numpy.ndarray[Any, Any] | numpy.generic | bool | int | float | complex

__all__ = ["ArrayLike", "DTypeLike"]
