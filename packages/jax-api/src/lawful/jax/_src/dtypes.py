"""``jax._src.dtypes``: the error of dtypes without a common one, and names of dtypes that have rules of their own.

There are no arrays of the latter: flax only defines some for its layers of float8.
"""

from numpy import dtype as DType

from lawful.core import ArgumentTypeError as TypePromotionError
from lawful.jax.dtypes import extended, finfo

__all__ = ["DType", "ExtendedDType", "TypePromotionError", "extended", "finfo"]


class ExtendedDType:
    """The base of dtypes that have rules of their own."""
