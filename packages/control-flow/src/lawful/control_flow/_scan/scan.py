"""``scan``: a loop over slices of arrays that carries a state, and stacks results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.control_flow._loops.arguments import integer, number_of_turns, require_function, strong
from lawful.control_flow._loops.bodies import split_list
from lawful.control_flow._loops.carry import trace_body
from lawful.control_flow._scan.primitive import bind_scan, counts_of
from lawful.core import ArgumentTypeError, ShapedArray, get_aval, is_array
from lawful.staging import function_name, in_avals, own_results


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[Any, Any]:
    """Returns the last carry of a loop over slices, and the results of its turns, stacked.

    It means the Python loop::

        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, numpy.stack(ys)

    Args:
      f: a function of a carry and a slice that gives a carry of the same structure, shapes and dtypes, and a result.
        It is traced once, however many turns there are. It may close over arrays and tracers.
      init: the first carry, a pytree of arrays. A Python number gets the dtype that ``f`` gives back for it.
      xs: a pytree of arrays that are sliced along their first dimension; None for no slices.
      length: the number of turns; needed where ``xs`` has no arrays.
      reverse: whether to begin with the last slice.
      unroll: how many turns a compiled loop makes between two looks at its counter; True for all of them.
      checkpoints: how many carries are stored at a time for the reverse mode; turns are run again from them. None
        stores what the backward pass needs of each turn instead. With k carries, up to β(k, t) = C(k + t, t) turns
        are reversed by running each of them again t times, and once more while it is reversed.

    Returns:
      ``(carry, ys)``; each array of ``ys`` has one more dimension, in front, of as many elements as there are turns.

    Raises:
      ArgumentTypeError: the carry does not keep its structure, shapes and dtypes; ``f`` does not return a pair; the
        length is traced, or a leaf of ``xs`` has no dimension.
      ArgumentValueError: arrays of ``xs`` differ in length, or a number is out of its range.

    Law: equal to the loop above, under every transformation; its derivatives are loops again. What is the same at
    each turn is computed and kept once. Source: ``jax.lax.scan``.

    >>> import numpy as np
    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    require_function("scan", "f", f)
    name = function_name(f)

    def pair(carry: Any, x: Any) -> tuple[Any, Any]:
        found: Any = f(carry, x)
        if isinstance(found, tuple | list) and len(found) == 2:
            return found[0], found[1]
        got = get_aval(found) if is_array(found) else type(found).__name__
        of = f" of {len(found)}" if isinstance(found, tuple | list) else ""
        raise ArgumentTypeError(
            f"scan: expected {name} to return a pair (carry, result), got {got}{of}; return (carry, None) for no result"
        )

    return run_scan("scan", pair, name, init, xs, length, reverse=bool(reverse), unroll=unroll, checkpoints=checkpoints)


def run_scan(
    construct: str, function: Callable[[Any, Any], tuple[Any, Any]], name: str, init: Any, xs: Any,
    length: int | None = None, *, reverse: bool = False, unroll: int | bool = 1, checkpoints: int | None = None,
    argument: str = "init", hidden: int = 0,
) -> tuple[Any, Any]:  # fmt: skip
    """Returns what a scan gives, on behalf of a construct.

    Args:
      construct: what the user called.
      function: ``function(carry, x)`` gives a carry and a result.
      name: what the user's function is called.
      init: the first carry.
      xs: what is sliced.
      length: the number of turns, where nothing else tells it.
      reverse: as in `scan`, and so are the next two.
      unroll: how many turns are made at a time.
      checkpoints: how many carries are kept.
      argument: what the user calls the first carry.
      hidden: how many keys of a path into the carry the user does not know of.
    """
    leaves, xs_tree = tree.flatten(xs)
    avals = in_avals(construct, ((), {"xs": xs}), leaves)
    turns = number_of_turns(construct, xs, avals, length)
    if isinstance(unroll, bool):
        unroll = max(turns, 1) if unroll else 1
    step = integer(construct, "unroll", unroll, 1)
    kept = None if checkpoints is None else integer(construct, "checkpoints", checkpoints, 1)
    slices = [ShapedArray(aval.shape[1:], aval.dtype) for aval in avals]
    body = trace_body(construct, function, name, init, slices, xs_tree, argument, hidden)
    counts = counts_of(body.jaxpr, len(body.consts), len(body.carry))
    xs_leaves = [strong(x) for x in leaves]
    args = [*body.consts, *body.carry, *xs_leaves]
    kept = kept if turns else None  # no turn needs to be made again
    outs = bind_scan(args, body.jaxpr, counts, length=turns, reverse=reverse, unroll=step, checkpoints=kept)
    carry, ys = split_list(own_results(outs, [*body.consts, *leaves, *body.carry]), (counts.carry,))
    return tree.unflatten(tree.structure(init), carry), tree.unflatten(body.out_tree, ys)
