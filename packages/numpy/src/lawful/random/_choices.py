"""Permutations and choices."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ArgumentValueError, get_aval, require_size
from lawful.ops import canonical_axis
from lawful.random._distributions import gumbel
from lawful.random._keys import require_key, shape_of, split
from lawful.random._uniform import bits, randint, uniform


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Returns an array with its elements along an axis in random order.

    Args:
      key: a key.
      x: an array, or an integer for the numbers below it.
      axis: along which to permute.
      independent: whether each line along the axis gets a different order.

    Raises:
      ArgumentTypeError: it is not a key.
      AxisError: there is no such axis.

    Law: the order is that of ``jax.random.permutation``.

    >>> from lawful.random import key
    >>> np.sort(permutation(key(0), 5))
    array([0, 1, 2, 3, 4])
    """
    require_key("permutation", key)
    aval = None if isinstance(x, int) else get_aval(x)
    if aval is None or not aval.shape:
        count = operator.index(x)
        require_size((max(count, 0),), np.dtype(np.int64))
        return _shuffled(key, np.arange(count), 0)
    axis = canonical_axis("permutation", axis, aval.ndim)
    if independent or aval.ndim == 1:
        return _shuffled(key, x, axis)
    return _taken(x, _shuffled(key, np.arange(aval.shape[axis]), 0), axis)


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    """Returns an array sorted repeatedly by random keys, so that equal keys have a negligible effect."""
    aval = get_aval(x)
    rounds = math.ceil(3 * math.log(max(1, aval.size)) / math.log(2**32 - 1))
    for _ in range(rounds):
        key, now = split(key)
        x = ops.sort_key_val(bits(now, aval.shape), x, axis)[1]
    return x


def _taken(x: Any, indices: Any, axis: int) -> Any:
    from lawful import numpy as lnp

    return lnp.take(x, indices, axis=axis)


def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Any:
    """Returns elements of an array, chosen at random.

    Args:
      key: a key.
      a: an array, or an integer for the numbers below it.
      shape: that of the choices.
      replace: whether an element may be chosen more than once.
      p: the probabilities of the elements; all equal by default.
      axis: along which to choose.

    Raises:
      ArgumentTypeError: it is not a key.
      ArgumentValueError: there are not enough elements, or ``p`` has another shape.

    Law: the choices are those of ``jax.random.choice``.

    >>> from lawful.random import key
    >>> choice(key(0), np.array([2.0, 4.0, 8.0]), (2,), replace=False).shape
    (2,)
    """
    require_key("choice", key)
    shape = shape_of("choice", shape)
    is_number = isinstance(a, int) or not get_aval(a).shape
    axis = 0 if is_number else canonical_axis("choice", axis, get_aval(a).ndim)
    count, chosen = operator.index(a) if is_number else get_aval(a).shape[axis], math.prod(shape)
    if count <= 0 and chosen:
        raise ArgumentValueError(f"choice: expected an array with elements along axis {axis}, got none to choose from")
    if not replace and chosen > count:
        raise ArgumentValueError(
            f"choice: expected at most {count} choices without replacement, got shape {shape}, which are {chosen}"
        )
    if p is not None and get_aval(p).shape != (count,):
        raise ArgumentValueError(f"choice: expected probabilities of shape {(count,)}, got {get_aval(p)}")
    if p is None and not replace:
        whole = permutation(key, count if is_number else a, axis)
        drawn = ops.slice_in_dim(whole, 0, chosen, axis=axis)
        rest = get_aval(drawn).shape
        return ops.reshape(drawn, shape if is_number else (*rest[:axis], *shape, *rest[axis + 1 :]))
    indices = _indices(key, shape, count, replace, p)
    return indices if is_number else _taken(a, indices, axis)


def _indices(key: Any, shape: tuple[int, ...], count: int, replace: bool, p: Any) -> Any:
    from lawful import numpy as lnp

    if p is None:
        return randint(key, shape, 0, count)
    dtype = get_aval(p).dtype
    if not replace:  # log p plus independent Gumbel numbers: the largest ones are a choice in proportion to p
        with np.errstate(divide="ignore"):  # probability 0 scores -inf
            score = ops.add(gumbel(key, (count,), dtype), ops.log(p))
        found = ops.top_k(score, math.prod(shape))[1]
        return ops.reshape(ops.convert_element_type(found, np.int64), shape)
    total = ops.cumsum(p)
    below = ops.mul(total[-1], ops.sub(1, uniform(key, shape, dtype)))
    return lnp.searchsorted(total, below)


def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True) -> Any:
    """Returns positions chosen with probabilities in proportion to the exponentials of logits.

    Args:
      key: a key.
      logits: a real floating array.
      axis: along which the logits are of one choice.
      shape: that of the result, into which the shape of the logits without the axis has to broadcast.
      replace: whether a position may be chosen more than once in the leading dimensions of ``shape``.

    Raises:
      ArgumentTypeError: it is not a key.
      ArgumentValueError: the shapes do not fit.
      AxisError: there is no such axis.

    Law: the positions are those of ``jax.random.categorical`` for the same dtype.

    >>> from lawful.random import key
    >>> categorical(key(0), np.log(np.array([0.0001, 0.9999])), shape=(3,))
    array([1, 1, 1])
    """
    require_key("categorical", key)
    aval = get_aval(logits)
    axis = canonical_axis("categorical", axis, aval.ndim)
    rest = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    shape = rest if shape is None else shape_of("categorical", shape)
    if shape[len(shape) - len(rest) :] != rest and np.broadcast_shapes(shape, rest) != shape:
        raise ArgumentValueError(f"categorical: expected a shape that ends in {rest}, got {shape}")
    lead = shape[: len(shape) - len(rest)]
    if not replace:
        return _without_replacement(key, logits, axis, lead)
    dim = len(lead) + axis
    drawn = gumbel(key, (*shape[:dim], aval.shape[axis], *shape[dim:]), aval.dtype)
    return ops.argmax(ops.add(drawn, logits), dim, np.int64)


def _without_replacement(key: Any, logits: Any, axis: int, lead: tuple[int, ...]) -> Any:
    aval = get_aval(logits)
    score = ops.add(gumbel(key, aval.shape, aval.dtype), logits)
    order = [i for i in range(aval.ndim) if i != axis]
    found = ops.top_k(ops.transpose(score, (*order, axis)), math.prod(lead))[1]
    front = ops.transpose(found, (aval.ndim - 1, *range(aval.ndim - 1)))
    return ops.convert_element_type(ops.reshape(front, (*lead, *get_aval(front).shape[1:])), np.int64)
