"""``jax.interpreters.xla``: application of primitives."""

from typing import Any

from lawful.core import Primitive


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Returns the results of a primitive, as ``prim.bind``."""
    return prim.bind(*args, **params)


__all__ = ["apply_primitive"]
