"""``map``: a function applied to slices of arrays in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.batching import vmap
from lawful.control_flow._loops.arguments import integer, require_function, trip_count
from lawful.control_flow._scan.scan import run_scan
from lawful.core import get_aval
from lawful.ops import concatenate, reshape, slice_in_dim
from lawful.staging import function_name, in_avals


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Returns the stacked results of a function of the slices of arrays.

    It computes what ``vmap(f)(xs)`` does, one slice or one batch of them after the other, and so in less memory; a
    `cond` in ``f`` whose predicate depends on the slice computes one branch only.

    Args:
      f: a function of a tree of slices, which gives a tree of arrays.
      xs: a pytree of arrays of one length, that are sliced along their first dimension.
      batch_size: how many slices to compute at a time by `vmap`; None for one, without it; 0 for all.

    Raises:
      ArgumentTypeError: a leaf of ``xs`` has no dimension, or ``batch_size`` is not a known integer.
      ArgumentValueError: the arrays differ in length, there are none, or ``batch_size`` is negative.

    Law: equal to ``vmap(f)(xs)``. Source: ``jax.lax.map``.

    >>> import numpy as np
    >>> map(lambda x: x * x, np.array([1.0, 2.0, 3.0]), batch_size=2)
    array([1., 4., 9.])
    """
    require_function("map", "f", f)
    name = function_name(f)
    if batch_size is None:
        return run_scan("map", lambda _, x: ((), f(x)), name, (), xs)[1]
    size = integer("map", "batch_size", batch_size, 0)
    length = trip_count("map", xs, in_avals("map", ((), {"xs": xs}), tree.leaves(xs)), None)
    whole = length // size if size else 0
    if not whole:
        return vmap(f)(xs)
    end = whole * size
    batched = tree.map(lambda x: _reshape_front(slice_in_dim(x, 0, end), (whole, size)), xs)
    results = run_scan("map", lambda _, x: ((), vmap(f)(x)), name, (), batched)[1]
    results = tree.map(lambda y: _reshape_front(y, (end,), 2), results)
    if end == length:
        return results
    rest = vmap(f)(tree.map(lambda x: slice_in_dim(x, end, length), xs))
    return tree.map(lambda y, z: concatenate([y, z], 0), results, rest)


def _reshape_front(x: Any, front: tuple[int, ...], count: int = 1) -> Any:
    """Returns an array whose first ``count`` dimensions are reshaped to ``front``."""
    return reshape(x, (*front, *get_aval(x).shape[count:]))
