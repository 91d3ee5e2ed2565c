"""``jax.lax``: `lawful.ops`, `lawful.control_flow` and collectives, with JAX's arguments and eager arrays.

>>> from lawful.jax import lax
>>> lax.cond(True, lambda x: x + 1.0, lambda x: x, 2.0)
Array(3., dtype=float64)
"""

import typing as _typing

from lawful import autodiff as _autodiff
from lawful import batching as _batching
from lawful import control_flow as _control_flow
from lawful import numpy as _numpy
from lawful import ops as _ops
from lawful.jax._support.lax import functions as _adapted
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.weakness import keeps_weakness as _keeps_weakness
from lawful.jax._support.namespaces.wrapping import returns_arrays as _returns_arrays
from lawful.jax._support.namespaces.wrapping import transforms as _transforms


def _wrapped(function: object, signature: object) -> object:
    """Functions that call a user's functions leave arguments as they are."""
    own = getattr(function, "__module__", "") or ""
    calls = own.startswith(("lawful.control_flow", "lawful.autodiff", "lawful.batching", "lawful.jax"))
    if not calls:
        return _returns_arrays(function, signature)  # type: ignore[arg-type]
    return _keeps_weakness(_transforms(function, signature), getattr(function, "__name__", ""))  # type: ignore[arg-type]


if _typing.TYPE_CHECKING:
    from lawful.autodiff import stop_gradient as stop_gradient
    from lawful.control_flow import associative_scan as associative_scan
    from lawful.control_flow import cond as cond
    from lawful.control_flow import fori_loop as fori_loop
    from lawful.control_flow import map as map
    from lawful.control_flow import scan as scan
    from lawful.control_flow import switch as switch
    from lawful.control_flow import while_loop as while_loop
    from lawful.jax._typed.lax import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        _adapted,
        _ops,
        _control_flow,
        _batching,
        _autodiff,
        _numpy,
        "lawful.jax._support.sharding",
        submodules=("linalg",),
        wrap=_wrapped,
    )
