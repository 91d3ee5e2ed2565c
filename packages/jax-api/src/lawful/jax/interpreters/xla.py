"""``jax.interpreters.xla``: application of primitives."""

from typing import Any

from lawful.core import Primitive


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Returns the results of a primitive, as ``prim.bind``.

    >>> double_p = Primitive("double")
    >>> _ = double_p.def_impl(lambda x: x + x)
    >>> apply_primitive(double_p, 3.0)
    6.0
    """
    return prim.bind(*args, **params)


__all__ = ["apply_primitive"]
