"""Registration of this package's functions as the implementations of NumPy's for tracers and device arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy
from lawful.numpy._left_out import left_out
from lawful.ops import register_numpy_functions, register_ufuncs

# Not by getattr, which would trigger lazy imports of NumPy.
_THEIRS = vars(numpy)

#: These return lists here, as the array API requires, and tuples in NumPy.
_TUPLES = frozenset({"meshgrid", "broadcast_arrays"})


@functools.cache  # registering again, after lazy imports, must pass the same function object
def _as_tuple(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def theirs(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(function(*args, **kwargs))

    return theirs


def register_counterparts(names: Mapping[str, Any]) -> None:
    """Registers functions as the implementations of NumPy's functions with the same names.

    Args:
      names: the public names of this package, with their values.
    """
    pairs = ((_THEIRS.get(name), _as_tuple(ours) if name in _TUPLES else ours) for name, ours in names.items())
    register_numpy_functions(
        {theirs: ours for theirs, ours in pairs if callable(theirs) and theirs is not ours},
        left_out={_THEIRS[name]: why for name, why in left_out.items() if callable(_THEIRS.get(name))},
    )
    register_ufuncs("scipy.special", "lawful.special")
