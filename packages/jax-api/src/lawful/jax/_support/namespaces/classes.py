"""Classes of lawful's with JAX's names, whose methods return Arrays."""

from __future__ import annotations

from typing import Any, cast

from lawful import tree
from lawful.jax._support.array import as_jax
from lawful.jax._support.namespaces.wrapping import returns_arrays


def returning_arrays[C: type[Any]](base: C) -> C:
    """Returns a subclass of a class of pytrees whose methods and properties take and return `Array`s."""
    members: dict[str, Any] = {"__doc__": base.__doc__}
    for name, value in vars(base).items():
        if name.startswith("tree_") or (name.startswith("_") and name not in _OPERATORS):
            continue
        if isinstance(value, classmethod):
            members[name] = classmethod(returns_arrays(value.__func__))
        elif isinstance(value, property) and value.fget is not None:
            members[name] = property(returns_arrays(value.fget))
        elif callable(value):
            members[name] = returns_arrays(value)
    for name in vars(base).get("__annotations__", ()):
        members[name] = _attribute(name)
    return cast(C, tree.register_node_class(type(base.__name__, (base,), members)))


def _attribute(name: str) -> property:
    """Returns an attribute of an object that is an `Array` where it is an array."""

    def stored(self: Any, value: Any) -> None:
        vars(self)[name] = value

    return property(lambda self: as_jax(vars(self)[name]), stored)


_OPERATORS = ("__init__", "__call__", "__mul__", "__getitem__")
