"""``jax.lax``: `lawful.ops`, `lawful.control_flow` and collectives, with JAX's arguments and eager arrays.

>>> from lawful.jax import lax
>>> lax.cond(True, lambda x: x + 1.0, lambda x: x, 2.0)
Array(3., dtype=float64)
"""

from lawful import autodiff as _autodiff
from lawful import batching as _batching
from lawful import control_flow as _control_flow
from lawful import numpy as _numpy
from lawful import ops as _ops
from lawful.jax._support import lax as _adapted
from lawful.jax._support.namespace import namespace as _namespace
from lawful.jax._support.wrapping import returns_arrays as _returns_arrays
from lawful.jax._support.wrapping import transforms as _transforms


def _wrapped(function: object, signature: object) -> object:
    """Functions that call a user's functions leave arguments as they are."""
    own = getattr(function, "__module__", "") or ""
    calls = own.startswith(("lawful.control_flow", "lawful.autodiff", "lawful.batching", "lawful.jax"))
    return (_transforms if calls else _returns_arrays)(function, signature)  # type: ignore[arg-type]


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
