"""Keys of an equation's parameters."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Any

import numpy as np

from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr
from lawful.core._types.aval import ShapedArray
from lawful.tree.base import PLAIN, exact_key, object_key


def exact_params_key(params: dict[Any, Any]) -> Hashable:
    """Returns the exact key of parameters.

    It is not hashable if a parameter holds a program, because no cache may keep a program alive.

    >>> exact_params_key({"axis": 1}) == exact_params_key({"axis": 1.0})
    False
    """
    return tuple(
        [
            (name, value, cls) if (cls := type(value)) in PLAIN else (name, exact_key(value, _key_of_no_program))
            for name, value in params.items()
        ]
    )


def _key_of_no_program(value: Any) -> Any:
    if isinstance(value, np.dtype):
        return type(value), value  # as `object_key` gives it, 8x faster
    if isinstance(value, ClosedJaxpr | Jaxpr) or (callable(value) and not isinstance(value, type)):
        return [type(value)]  # not hashable
    return object_key(value)


class UnknownParamError(Exception):
    """A parameter may be any object."""


def known_param(value: Any) -> Hashable:
    """Returns a key that only equal parameters share, if they consist of numbers, types and deduplicated programs.

    Raises:
      UnknownParamError: the parameter is or holds another object, which may be mutable.
    """
    cls = type(value)
    if cls in PLAIN:
        return cls, value, value == -1  # hash(-1) == hash(-2)
    if cls is tuple:
        return tuple([known_param(x) for x in value])
    if isinstance(value, ClosedJaxpr):
        # By identity: it was deduplicated when it was traced, or made of one that was, whose memo has it. Comparing
        # nested programs could take exponential time.
        if value.is_plain or value.transience == 0:
            return value
    elif isinstance(value, float | complex | np.generic):
        return exact_key(value)
    elif isinstance(value, np.dtype | Enum | ShapedArray):
        return cls, value
    elif fields := getattr(cls, "__lawful_fields__", None):
        return cls, known_param(fields(value))
    raise UnknownParamError


def is_known_param(value: Any) -> bool:
    """Whether `known_param` has a key for a parameter."""
    try:
        known_param(value)
    except UnknownParamError:
        return False
    return True
