"""``jax.scipy.interpolate``: the interpolator of `lawful.interpolate`, which returns eager arrays of JAX."""

from lawful.interpolate import RegularGridInterpolator as _RegularGridInterpolator
from lawful.jax._support.namespaces.classes import returning_arrays as _returning_arrays

__all__ = ["RegularGridInterpolator"]

RegularGridInterpolator = _returning_arrays(_RegularGridInterpolator)
