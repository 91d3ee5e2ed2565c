"""``jax.scipy.spatial.transform``: the rotations of `lawful.spatial`, which return eager arrays of JAX."""

from lawful.jax._support.namespaces.classes import returning_arrays as _returning_arrays
from lawful.spatial import transform as _transform

__all__ = ["Rotation", "Slerp"]

Rotation = _returning_arrays(_transform.Rotation)
Slerp = _returning_arrays(_transform.Slerp)
