"""``scan``: a loop over slices of arrays that carries a state, and stacks results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import tree
from lawful.control_flow._loops.arguments import integer, require_function, strong, trip_count
from lawful.control_flow._loops.bodies import split_list
from lawful.control_flow._loops.carry import copied_carry, require_carry, trace_body
from lawful.control_flow._scan.primitive import bind_scan, counts_of
from lawful.core import ArgumentTypeError, ShapedArray, get_aval, is_array
from lawful.ops import concatenate, expand_dims, getitem
from lawful.staging import copy_aliased, flatten_outputs, function_name, in_avals, is_jit_disabled


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
    """Returns the last carry of a loop over slices, and the stacked results of its iterations.

    It means the Python loop::

        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, numpy.stack(ys)

    Args:
      f: a function of a carry and a slice that gives a carry of the same structure, shapes and dtypes, and a result.
        It is traced once, whatever the trip count. It may close over arrays and tracers.
      init: the first carry, a pytree of arrays. A Python number gets the dtype that ``f`` gives back for it.
      xs: a pytree of arrays that are sliced along their first dimension; None for no slices.
      length: the trip count; needed where ``xs`` has no arrays.
      reverse: whether to begin with the last slice.
      unroll: how many iterations a compiled loop runs between two tests of its counter; True or 0 for all of them.
      checkpoints: how many carries are stored at a time for reverse mode; iterations are run again from them. None
        stores the residuals of each iteration instead. With k carries, up to β(k, t) = C(k + t, t) iterations are
        reversed by running each of them again t times, and once more while it is reversed.

    Returns:
      ``(carry, ys)``; each array of ``ys`` has one more dimension, in front, whose size is the trip count.

    Raises:
      ArgumentTypeError: the carry does not keep its structure, shapes and dtypes; ``f`` does not return a pair; the
        length is traced, or a leaf of ``xs`` has no dimension.
      ArgumentValueError: arrays of ``xs`` differ in length, or a number is out of its range.

    Law: equal to the loop above, under every transformation; its derivatives are loops again. Loop-invariant
    residuals are computed and stored once. Source: ``jax.lax.scan``.

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
    """Runs a scan on behalf of a public function.

    Args:
      construct: the public function that the user called, for error messages.
      function: ``function(carry, x)`` returns a carry and a result.
      name: the name of the user's function.
      init: the first carry.
      xs: a pytree of arrays to slice.
      length: the trip count, if ``xs`` has no arrays.
      reverse: as in `scan`.
      unroll: as in `scan`.
      checkpoints: as in `scan`.
      argument: the name of the argument for the first carry.
      hidden: the number of leading keys of a path into the carry that are internal.
    """
    leaves, xs_tree = tree.flatten(xs)
    avals = in_avals(construct, ((), {"xs": xs}), leaves)
    count = trip_count(construct, xs, avals, length)
    if isinstance(unroll, bool):
        unroll = 0 if unroll else 1
    step = integer(construct, "unroll", unroll, 0) or max(count, 1)
    room = None if checkpoints is None else integer(construct, "checkpoints", checkpoints, 1)
    if is_jit_disabled() and count:
        return _run_in_python(construct, function, name, init, xs, count, reverse, argument, hidden)
    slices = [aval.update(shape=aval.shape[1:], weak_type=False) for aval in avals]
    body = trace_body(construct, function, name, init, slices, xs_tree, argument, hidden)
    counts = counts_of(body.jaxpr, len(body.consts), len(body.carry))
    xs_leaves = [strong(x) for x in leaves]
    args = [*body.consts, *body.carry, *xs_leaves]
    room = room if count else None  # an empty loop has no iteration to rerun
    outs = bind_scan(args, body.jaxpr, counts, length=count, reverse=reverse, unroll=step, checkpoints=room)
    carry, ys = split_list(copy_aliased(outs, [*body.consts, *leaves, *body.carry]), (counts.carry,))
    return tree.unflatten(tree.structure(init), carry), tree.unflatten(body.out_tree, ys)


def _run_in_python(
    construct: str, function: Callable[[Any, Any], tuple[Any, Any]], name: str, carry: Any, xs: Any, count: int,
    reverse: bool, argument: str, hidden: int,
) -> tuple[Any, Any]:  # fmt: skip
    """Runs the loop that `scan` means, as `disable_jit` asks for."""
    results: list[list[Any]] = []
    out_tree: Any = None
    types: list[ShapedArray] = []
    for i in range(count - 1, -1, -1) if reverse else range(count):
        after, found = function(copied_carry(carry), tree.map(lambda x, i=i: getitem(x, i), xs))
        carry = require_carry(construct, name, carry, after, argument, hidden)
        outputs, found_tree = flatten_outputs(f"{construct}: the results of {name}", found)
        row = [strong(x) for x in outputs]
        found_types = [get_aval(x) for x in row]
        if results and (found_tree, found_types) != (out_tree, types):
            raise ArgumentTypeError(
                f"{construct}: expected results of {name} of one structure and type, got {_described(found_types)} in "
                f"iteration {i} and {_described(types)} before; results are stacked"
            )
        out_tree, types = found_tree, found_types
        results.append(row)
    if reverse:
        results.reverse()
    stacks = [concatenate([expand_dims(y, (0,)) for y in column], 0) for column in zip(*results, strict=True)]
    return carry, tree.unflatten(out_tree, stacks)


def _described(avals: Sequence[ShapedArray]) -> str:
    return ", ".join(map(str, avals)) or "nothing"
