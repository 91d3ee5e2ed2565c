"""Keys of an equation's parameters."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr
from lawful.tree.base import exact_key, object_key


def exact_params_key(params: dict[Any, Any]) -> Hashable:
    """Returns the exact key of parameters.

    It is not hashable where a parameter holds a program, which nothing that is cached may keep alive.
    """
    return tuple([(name, exact_key(value, _key_of_no_program)) for name, value in params.items()])


def _key_of_no_program(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr | Jaxpr) or (callable(value) and not isinstance(value, type)):
        return [type(value)]  # which cannot be hashed
    return object_key(value)
