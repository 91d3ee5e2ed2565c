"""Pytrees of arrays as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops, tree
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy._dtypes import result_type

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Returns the elements of all leaves as one vector, and the function that makes the pytree of such a vector.

    The vector has the dtype that the leaves promote to; the function gives each leaf its own. Where all leaves have one
    dtype, the vector may have another, which they then have.

    Raises:
      ArgumentValueError: from the function, if a vector has another length.
      ArgumentTypeError: from the function, if the leaves have several dtypes, and a vector another one than theirs.

    >>> vector, unravel = ravel_pytree({"w": numpy.ones((1, 2)), "b": 3.0})
    >>> vector
    array([3., 1., 1.])
    >>> unravel(2 * vector)
    {'b': array(6.), 'w': array([[2., 2.]])}

    Source: ``jax.flatten_util.ravel_pytree``.
    """
    leaves, treedef = tree.flatten(pytree)
    avals = [get_aval(leaf) for leaf in leaves]
    dtype = numpy.dtype(result_type(*[aval.dtype for aval in avals])) if leaves else numpy.dtype(float)
    is_mixed = any(aval.dtype != dtype for aval in avals)
    sizes = [aval.size for aval in avals]
    ends = numpy.cumsum([0, *sizes]).tolist()
    parts = [
        ops.reshape(ops.convert_element_type(leaf, dtype), (size,)) for leaf, size in zip(leaves, sizes, strict=True)
    ]
    vector = ops.concatenate(parts, 0) if parts else numpy.zeros(0, dtype)

    def unravel(vector: Any) -> Any:
        if get_aval(vector).shape != (ends[-1],):
            raise ArgumentValueError(
                f"unravel: expected a vector of {ends[-1]} elements, got {get_aval(vector)}; give one of that length"
            )
        given = get_aval(vector).dtype
        if is_mixed and given != dtype:
            raise ArgumentTypeError(
                f"unravel: expected a vector of dtype {dtype}, which the leaves promote to, got {given}; convert it"
            )
        pieces = [
            ops.convert_element_type(
                ops.reshape(ops.slice_in_dim(vector, start, stop), aval.shape), aval.dtype if is_mixed else given
            )
            for start, stop, aval in zip(ends[:-1], ends[1:], avals, strict=True)
        ]
        return tree.unflatten(treedef, pieces)

    return vector, unravel
