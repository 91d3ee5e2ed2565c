"""Branches: functions traced at the same types, which must have results of one structure and type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from lawful import tree
from lawful.control_flow._loops.arguments import strong
from lawful.core import (
    ArgumentTypeError,
    AxisNames,
    ClosedJaxpr,
    ShapedArray,
    TreeStructureError,
    common_axes,
    current,
    diverging,
    eval_closed_jaxpr,
    with_axes_of,
)
from lawful.staging import flatten_outputs, function_name, hoist_common, in_avals, trace_to_jaxpr


def trace_branches(
    name: str,
    functions: Sequence[Callable[..., Any]],
    labels: Sequence[str],
    in_tree: Any,
    operands: Any,
    leaves: Sequence[Any],
    vma: AxisNames = frozenset(),
) -> tuple[tuple[ClosedJaxpr, ...], list[Any], Any]:
    """Traces functions of the same operands.

    Args:
      name: the construct, for error messages.
      functions: the branches.
      labels: their names in error messages.
      in_tree: the tree of the operands.
      operands: the tuple of operands.
      leaves: their leaves.
      vma: the axes of a mesh along which devices take different branches.

    Returns:
      For each function a jaxpr that takes all constants and then the operands; the constants that any of them closes
      over; and the tree of the result.

    Raises:
      ArgumentTypeError: the results differ in structure, shape or dtype.
    """
    avals = in_avals(name, (operands, {}), leaves)
    with diverging(vma) if vma else nullcontext():
        traced = [
            _trace(name, function, in_tree, [aval.update(vma=aval.vma | vma) for aval in avals])
            for function in functions
        ]
        if current.trace.checked_axes:
            alike = _with_common_axes([closed for closed, _ in traced], vma)
            traced = [(closed, out_tree) for closed, (_, out_tree) in zip(alike, traced, strict=True)]
    first, out_tree = traced[0]
    for label, (closed, other_tree) in zip(labels[1:], traced[1:], strict=True):
        _require_same_result(name, labels[0], label, out_tree, other_tree, first.out_avals, closed.out_avals)
    branches, consts = hoist_common([closed for closed, _ in traced])
    return tuple(branches), consts, out_tree


def _trace(
    name: str, function: Callable[..., Any], in_tree: Any, avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, Any]:
    out_tree: Any = None
    label = f"{name} of {function_name(function)}"

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        outputs, out_tree = flatten_outputs(label, function(*tree.unflatten(in_tree, leaves)))
        # Results are strong, so that the type does not depend on which branch returns a Python scalar.
        return [strong(x) for x in outputs]

    closed = trace_to_jaxpr(flat, avals, transformation=name, name=function_name(function))
    return closed, out_tree


def _with_common_axes(branches: Sequence[ClosedJaxpr], vma: AxisNames) -> list[ClosedJaxpr]:
    """Returns branches whose results vary over the same axes of a mesh: those of any branch, and some others."""
    if len({len(branch.out_avals) for branch in branches}) > 1:
        return [*branches]  # an error, which the caller explains
    axes = [common_axes(avals) | vma for avals in zip(*[branch.out_avals for branch in branches], strict=True)]
    return [_retyped(branch, axes) for branch in branches]


def _retyped(closed: ClosedJaxpr, axes: Sequence[AxisNames]) -> ClosedJaxpr:
    """Returns a jaxpr whose results vary over further axes."""
    wanted = [aval.update(vma=aval.vma | vma) for aval, vma in zip(closed.out_avals, axes, strict=True)]
    if wanted == closed.out_avals:
        return closed

    def varying(*args: Any) -> list[Any]:
        return [*map(with_axes_of, eval_closed_jaxpr(closed, *args), wanted)]

    return trace_to_jaxpr(varying, closed.in_avals, transformation="cond", name=closed.jaxpr.name)


def _require_same_result(
    name: str,
    label: str,
    other_label: str,
    out_tree: Any,
    other_tree: Any,
    avals: Sequence[ShapedArray],
    other_avals: Sequence[ShapedArray],
) -> None:
    if out_tree != other_tree:
        raise ArgumentTypeError(
            f"{name}: expected branches with results of one structure, got {out_tree} from {label} and {other_tree} "
            f"from {other_label} ({structures_differ(out_tree, other_tree)}); return the same tree from both"
        )
    paths = [path for path, _ in tree.leaves_with_path(tree.unflatten(out_tree, avals))]
    different = [
        f"{a} from {label} and {b} from {other_label} at result{tree.keystr(path)}"
        for path, a, b in zip(paths, avals, other_avals, strict=True)
        if a != b
    ]
    if different:
        raise ArgumentTypeError(
            f"{name}: expected branches with results of one type, got {'; '.join(different)}; "
            "convert with astype or broadcast in one of them"
        )


def structures_differ(expected: Any, got: Any) -> str:
    """Returns where two structures differ, and how: a leaf of one may be a tree in the other."""
    for one, other in ((expected, got), (got, expected)):
        try:
            one.flatten_up_to(tree.unflatten(other, [np.zeros(())] * other.num_leaves))
        except TreeStructureError as error:
            return error.message.removeprefix("flatten_up_to: ").partition("; give a tree")[0]
    raise AssertionError("the structures do not differ")
