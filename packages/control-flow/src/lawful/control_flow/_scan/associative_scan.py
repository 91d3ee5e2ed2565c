"""``associative_scan``: all partial combinations of the elements of arrays, in logarithmic depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import tree
from lawful.control_flow._loops.arguments import require_function
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.ops import canonical_axis, concatenate, expand_dims, reshape, rev, slice_in_dim
from lawful.staging import copy_aliased, in_avals

Arrays = list[Any]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Returns, for each element, the combination of all elements up to it.

    The result at ``i`` is ``fn(fn(fn(elems[0], elems[1]), elems[2]), …)`` up to ``elems[i]``. As ``fn`` associates,
    pairs are combined first: the depth is logarithmic in the number of elements, and fewer than twice as many
    elements as there are get combined.

    Args:
      fn: ``fn(a, b)`` of two trees of arrays gives a third one of the same shapes and dtypes. It associates, and
        works on any number of elements at a time along ``axis``.
      elems: a pytree of arrays of one length along ``axis``.
      reverse: whether to begin with the last element: the combination is then that of all from ``i`` on, the last
        first.
      axis: the dimension along which to scan, counted from the end if negative.

    Raises:
      ArgumentTypeError: ``fn`` gives another structure or other types than it takes.
      ArgumentValueError: the arrays differ in length, or there are none.
      AxisError: there is no such dimension.

    Law: equal to the loop. Source: ``jax.lax.associative_scan``; the algorithm is that of Blelloch, "Prefix sums and
    their applications", CMU-CS-90-190 (1990).

    >>> import numpy as np
    >>> associative_scan(lambda a, b: a * b, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  2.,  6., 24.])
    """
    require_function("associative_scan", "fn", fn)
    leaves, treedef = tree.flatten(elems)
    avals = in_avals("associative_scan", ((elems,), {}), leaves)
    if not leaves:
        raise ArgumentValueError("associative_scan: expected at least one array, got none; give arrays to combine")
    axes = [canonical_axis("associative_scan", axis, aval.ndim) for aval in avals]
    lengths = [aval.shape[at] for aval, at in zip(avals, axes, strict=True)]
    if len(set(lengths)) > 1:
        raise ArgumentValueError(
            f"associative_scan: expected arrays of one length along axis {axis}, got {', '.join(map(str, lengths))}; "
            "cut or pad them"
        )

    def combine(left: Arrays, right: Arrays) -> Arrays:
        result = fn(tree.unflatten(treedef, left), tree.unflatten(treedef, right))
        outs, out_tree = tree.flatten(result)
        got = in_avals("associative_scan", ((result,), {}), outs)
        wanted = [get_aval(x) for x in right]
        if out_tree != treedef or any(
            a.shape != b.shape or a.dtype != b.dtype for a, b in zip(got, wanted, strict=True)
        ):
            raise ArgumentTypeError(
                f"associative_scan: expected fn to give what it takes, {', '.join(map(str, wanted))} in {treedef}, got "
                f"{', '.join(map(str, got))} in {out_tree}; return the same tree of the same types"
            )
        return outs

    if reverse:
        leaves = [rev(x, (at,)) for x, at in zip(leaves, axes, strict=True)]
    results = _scan(combine, leaves, axes)
    if reverse:
        results = [rev(x, (at,)) for x, at in zip(results, axes, strict=True)]
    return tree.unflatten(treedef, copy_aliased(results, leaves))


def _scan(combine: Callable[[Arrays, Arrays], Arrays], elems: Arrays, axes: Sequence[int]) -> Arrays:
    length = get_aval(elems[0]).shape[axes[0]]
    if length < 2:
        return elems

    def part(xs: Arrays, start: int, stop: int, stride: int = 1) -> Arrays:
        return [slice_in_dim(x, start, stop, stride, at) for x, at in zip(xs, axes, strict=True)]

    even = part(elems, 0, length - length % 2, 2)
    at_odd = _scan(combine, combine(even, part(elems, 1, length, 2)), axes)
    first = part(elems, 0, 1)
    rest = (length - 1) // 2
    if not rest:
        at_even = first
    else:
        later = combine(part(at_odd, 0, rest), part(elems, 2, length, 2))
        at_even = [concatenate([x, y], at) for x, y, at in zip(first, later, axes, strict=True)]
    return [_interleaved(x, y, at) for x, y, at in zip(at_even, at_odd, axes, strict=True)]


def _interleaved(even: Any, odd: Any, axis: int) -> Any:
    """Returns the elements of two arrays alternately; the first array may have one more element."""
    shape = get_aval(odd).shape
    count = shape[axis]
    pairs = concatenate([expand_dims(slice_in_dim(x, 0, count, 1, axis), (axis + 1,)) for x in (even, odd)], axis + 1)
    whole = reshape(pairs, (*shape[:axis], 2 * count, *shape[axis + 1 :]))
    length = get_aval(even).shape[axis]
    return whole if length == count else concatenate([whole, slice_in_dim(even, count, length, 1, axis)], axis)
