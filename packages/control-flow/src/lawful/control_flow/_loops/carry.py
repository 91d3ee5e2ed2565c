"""Tracing of loop bodies at the types of the carry, which must not change in an iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final, NamedTuple

import numpy as np

from lawful import tree
from lawful.control_flow._loops.arguments import strong
from lawful.core import (
    ArgumentTypeError,
    Atom,
    AxisNames,
    ClosedJaxpr,
    Jaxpr,
    ShapedArray,
    SourceLine,
    TreeStructureError,
    Var,
    deduplicated,
    diverging,
    get_aval,
    promote_dtypes,
    with_axes_of,
)
from lawful.ops import convert_element_type, convert_element_type_p
from lawful.staging import consts_as_inputs, copy_aliased, flatten_outputs, in_avals, trace_to_jaxpr


class Body(NamedTuple):
    """A traced body.

    Attributes:
      jaxpr: maps constants, carry and slices to the next carry and the results.
      consts: the arrays that the body closes over.
      carry: the leaves of the first carry, with the types of the jaxpr.
      out_tree: the tree of the results.
    """

    jaxpr: ClosedJaxpr
    consts: list[Any]
    carry: list[Any]
    out_tree: Any


def trace_body(
    construct: str, function: Callable[..., tuple[Any, Any]], name: str, init: Any, slices: Sequence[ShapedArray],
    slices_tree: Any, argument: str, hidden: int = 0, vma: AxisNames = frozenset(),
) -> Body:  # fmt: skip
    """Traces the body of a loop.

    A Python number in the first carry gets the type that the body returns for it, as far as promotion allows.

    Args:
      construct: the public function that the user called, for error messages.
      function: ``function(carry, x)`` returns ``(carry, y)``.
      name: the name of the user's function.
      init: the first carry.
      slices: the types of the leaves of ``x``.
      slices_tree: the tree of ``x``.
      argument: the name of the argument for the first carry.
      hidden: the number of leading keys of a path into the carry that are internal: 1 if the user's carry is the
        second of a pair.
      vma: the axes of a mesh that the trip count varies over, and so the carry.

    Raises:
      ArgumentTypeError: the carry does not keep its structure, shapes and dtypes.
    """
    leaves, carry_tree = tree.flatten(init)
    avals = list(in_avals(construct, ((), {argument: init}), leaves))
    if vma:
        avals = [aval.update(vma=aval.vma | vma) for aval in avals]
    while True:
        with diverging(vma) if vma else nullcontext():  # the body alone: all devices make the first carry
            closed, out_trees = _trace(construct, function, name, carry_tree, avals, slices, slices_tree)
        found_tree, out_tree = out_trees
        _require_same_structure(construct, name, argument, hidden, carry_tree, found_tree)
        after = closed.out_avals[: len(avals)]
        if avals == after:
            break
        wider = [_wider(aval, other) for aval, other in zip(avals, after, strict=True)]
        if wider == avals:
            raise _changed_types(construct, name, argument, hidden, init, avals, after, closed.jaxpr)
        avals = wider
    opened, consts = consts_as_inputs(closed)
    carry = [
        with_axes_of(convert_element_type(x, aval.dtype), aval) if get_aval(x) != aval else x
        for x, aval in zip(leaves, avals, strict=True)
    ]
    return Body(deduplicated(opened), list(consts), carry, out_tree)


def require_carry(construct: str, name: str, carry: Any, after: Any, argument: str, hidden: int = 0) -> Any:
    """Returns the carry after an iteration that ran as Python, with strong types.

    Args:
      construct: as in `trace_body`.
      name: as in `trace_body`.
      carry: the carry before the iteration.
      after: what the body returned for it.
      argument: as in `trace_body`.
      hidden: as in `trace_body`.

    Raises:
      ArgumentTypeError: the carry does not keep its structure, shapes and dtypes.
    """
    leaves, carry_tree = tree.flatten(carry)
    found, found_tree = flatten_outputs(f"{construct}: the carry of {name}", after)
    _require_same_structure(construct, name, argument, hidden, carry_tree, found_tree)
    found = [strong(x) for x in found]
    before, now = [get_aval(x) for x in leaves], [get_aval(x) for x in found]
    if [_wider(aval, other) for aval, other in zip(before, now, strict=True)] != now:
        raise _changed_types(construct, name, argument, hidden, carry, before, now)
    return tree.unflatten(carry_tree, found)


def _require_same_structure(
    construct: str, name: str, argument: str, hidden: int, carry_tree: Any, found_tree: Any
) -> None:
    if found_tree != carry_tree:
        raise ArgumentTypeError(
            f"{construct}: expected {name} to give back the structure that it takes, got "
            f"{_structures_differ(carry_tree, found_tree, argument, hidden)}; return the tree of {argument}"
        )


def _changed_types(
    construct: str, name: str, argument: str, hidden: int, init: Any, before: Sequence[ShapedArray],
    after: Sequence[ShapedArray], body: Jaxpr | None = None,
) -> ArgumentTypeError:  # fmt: skip
    different = _types_differ(name, argument, hidden, init, before, after, body)
    return ArgumentTypeError(f"{construct}: expected {name} to give back the types that it takes, got {different}")


def _trace(
    name: str, function: Callable[..., tuple[Any, Any]], body_name: str, carry_tree: Any,
    avals: Sequence[ShapedArray], slices: Sequence[ShapedArray], slices_tree: Any,
) -> tuple[ClosedJaxpr, tuple[Any, Any]]:  # fmt: skip
    trees: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal trees
        carry = tree.unflatten(carry_tree, leaves[: len(avals)])
        after, results = function(carry, tree.unflatten(slices_tree, leaves[len(avals) :]))
        carry_out, found_tree = flatten_outputs(f"{name}: the carry of {body_name}", after)
        results_out, out_tree = flatten_outputs(f"{name}: the results of {body_name}", results)
        trees = found_tree, out_tree
        carry_out = [with_axes_of(strong(x), aval) for x, aval in zip(carry_out, avals, strict=False)]
        return [*carry_out, *map(strong, results_out)]

    closed = trace_to_jaxpr(flat, [*avals, *slices], transformation=name, name=body_name)
    return closed, trees


def _wider(aval: ShapedArray, after: ShapedArray) -> ShapedArray:
    """Returns the initial type of a part of the carry, from its given type and its type after an iteration."""
    aval = aval.update(vma=aval.vma | after.vma)
    if not aval.weak_type:
        return aval
    dtype, _ = promote_dtypes((aval.dtype, True), (after.dtype, after.weak_type))
    return aval.update(dtype=dtype, weak_type=False)


def _types_differ(
    name: str, argument: str, hidden: int, init: Any, avals: Sequence[ShapedArray], after: Sequence[ShapedArray],
    body: Jaxpr | None,
) -> str:  # fmt: skip
    """Returns where the types of a carry before and after an iteration differ, and which of the two to change."""
    different = []
    for i, ((path, _), before, now) in enumerate(zip(tree.leaves_with_path(init), avals, after, strict=True)):
        key = tree.keystr(path[hidden:])
        common, _ = promote_dtypes((before.dtype, False), (now.dtype, False))
        if before.shape != now.shape:
            cure = f"start with {argument}{key} of shape {now.shape}, or keep the shape {before.shape} in {name}"
        elif common != before.dtype:
            cure = f"start with {argument}{key} of dtype {common}, by astype"
            if common == now.dtype:
                line = None if body is None else _line_of_conversion(body, body.outvars[i], before.dtype)
                made = "" if line is None else f": it became {common} at {line}"
                cure += f", or return it from {name} as {before.dtype}{made}"
        else:
            cure = f"convert what {name} gives there by astype({common})"
        if before != now:
            different.append(f"{now} for the {before} of {argument}{key}: {cure}")
    return "; ".join(different)


def _line_of_conversion(body: Jaxpr, atom: Atom, dtype: Any) -> SourceLine | None:
    """Returns the last line at which a value, or what it depends on in its dtype, was converted from a dtype."""
    reached = {atom} if isinstance(atom, Var) else set()
    for eqn in reversed(body.eqns):
        if reached.isdisjoint(eqn.outvars):
            continue
        for x in eqn.invars:
            if x.aval.dtype == dtype and eqn.primitive is convert_element_type_p:
                return eqn.source
            if isinstance(x, Var) and x.aval.dtype == atom.aval.dtype:
                reached.add(x)
    return None


def _structures_differ(expected: Any, got: Any, argument: str, hidden: int) -> str:
    """Returns how the tree that a body returns differs from the tree that it takes."""
    before, after = (_visible(treedef, hidden) for treedef in (expected, got))
    taken = tree.structure(before)
    try:
        parts = taken.flatten_up_to(after)
    except TreeStructureError as error:
        where = error.message.removeprefix("flatten_up_to: ").partition("; give a tree")[0]
        return f"{tree.structure(after)} for the {taken} of {argument}: {where}"
    paths = [path for path, _ in tree.leaves_with_path(before)]
    path, part = next(pair for pair in zip(paths, parts, strict=True) if tree.structure(pair[1]) != _LEAF)
    return f"{tree.structure(part)} for the array {argument}{tree.keystr(path)}"


_LEAF: Final = tree.structure(0)


def _visible(treedef: Any, hidden: int) -> Any:
    """Returns a tree of a structure, or the part of it that is the user's carry."""
    found = tree.unflatten(treedef, [np.zeros(())] * treedef.num_leaves)
    return found[hidden] if hidden else found


def copied_carry(carry: Any) -> Any:
    """Returns a carry whose arrays share no memory: a function that Python calls may write into its arguments."""
    leaves, treedef = tree.flatten(carry)
    return tree.unflatten(treedef, copy_aliased(leaves, leaves))
