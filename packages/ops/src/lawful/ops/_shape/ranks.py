"""Broadcasting to more dimensions, and collapsing them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentValueError, get_aval
from lawful.ops._shape.reshape import broadcast_in_dim, reshape
from lawful.ops._shape.squeeze import expand_dims
from lawful.ops._support.promotion import broadcast_to
from lawful.ops._support.structural import static_integers

__all__ = ["broadcast", "broadcast_like", "broadcast_to_rank", "collapse"]


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """Returns the array repeated along new dimensions in front.

    Args:
      operand: an array.
      sizes: the lengths of the new dimensions.

    >>> import numpy as np
    >>> broadcast(np.arange(2), (2,))
    array([[0, 1],
           [0, 1]])

    Source: ``jax.lax.broadcast``.
    """
    shape, ndim = get_aval(operand).shape, get_aval(operand).ndim
    new = static_integers("broadcast", "sizes", sizes)
    if not new:
        return operand
    return broadcast_in_dim(operand, (*new, *shape), tuple(range(len(new), len(new) + ndim)))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """Returns an array broadcast to the shape of another one. Source: ``jax.lax.broadcast_like``.

    >>> import numpy as np
    >>> broadcast_like(3, np.zeros(2))
    array([3, 3])
    """
    return broadcast_to(arr, get_aval(like_arr).shape)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Returns the array with dimensions of length 1 in front. Source: ``jax.lax.broadcast_to_rank``.

    Raises:
      ArgumentValueError: it has more dimensions.

    >>> import numpy as np
    >>> broadcast_to_rank(np.arange(3), 3).shape
    (1, 1, 3)
    """
    missing = operator.index(rank) - get_aval(x).ndim
    if missing < 0:
        raise ArgumentValueError(
            f"broadcast_to_rank: expected at most {rank} dimensions, got {get_aval(x)}; give a higher rank"
        )
    return expand_dims(x, tuple(range(missing))) if missing else x


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Returns the array with a range of dimensions made one, the first of them varying slowest.

    Args:
      operand: an array.
      start_dimension: the first dimension.
      stop_dimension: the one after the last; all behind the first if None.

    Raises:
      ArgumentValueError: the range is empty.

    >>> import numpy as np
    >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)

    Source: ``jax.lax.collapse``.
    """
    shape = get_aval(operand).shape
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if start >= stop:
        raise ArgumentValueError(
            f"collapse: expected at least one dimension, got {start_dimension} to {stop_dimension} of {len(shape)}"
        )
    size = 1
    for length in shape[start:stop]:
        size *= length
    return reshape(operand, (*shape[:start], size, *shape[stop:]))
