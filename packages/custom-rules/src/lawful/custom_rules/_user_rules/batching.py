"""Users' batching rules, as rules on flat lists of operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from lawful import tree
from lawful.batching import AxisData
from lawful.core import (
    ArgumentTypeError,
    ConcretizationTypeError,
    InvalidArgumentError,
    ShapedArray,
    TreeStructureError,
    get_aval,
    shorten,
)
from lawful.custom_rules._call.batched_run import element_avals
from lawful.custom_rules._call.rules import Batch, Dims
from lawful.custom_rules._call.site import CallSite, describe_result
from lawful.ops import move_batch_dim
from lawful.staging import flatten_outputs, function_name, trace_to_jaxpr


def batch_by(rule: Callable[..., Any], site: CallSite) -> Batch:
    """Returns a user's batching rule as a rule on flat lists.

    Args:
      rule: ``rule(axis_size, in_batched, *args)`` returns ``(out, out_batched)``.
      site: the call of the function.
    """
    label = f"{site.function.label}, batching rule {function_name(rule)}"

    def batch(axis_data: AxisData, args: Sequence[Any], dims: Dims) -> tuple[list[Any], list[int | None]]:
        in_front = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
        in_batched = site.marks([dim is not None for dim in dims])
        pair = site.apply(
            lambda nondiff, leaves: rule(axis_data.size, in_batched, *site.arguments(nondiff, leaves)), in_front
        )
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentTypeError(
                f"{label}: expected a pair (out, out_batched), got {describe_result(pair)}; return the result, and "
                "whether each leaf of it is a batch"
            )
        if site.out_avals is None:
            _infer_result_types(site, element_avals(args, dims))
        return _checked_batches(label, site, axis_data.size, *pair)

    return batch


def _infer_result_types(site: CallSite, avals: Sequence[ShapedArray]) -> None:
    """Traces the function at the types of an element, which sets the types of the site's results."""
    with suppress(ConcretizationTypeError):  # the types of its results depend on values
        trace_to_jaxpr(site.run, avals, transformation=site.function.label, name=site.function.name)


def _checked_batches(
    label: str, site: CallSite, size: int, out: Any, out_batched: Any
) -> tuple[list[Any], list[int | None]]:
    """Returns the leaves of a rule's result and their batch dimensions."""
    leaves, out_tree = flatten_outputs(label, out)
    try:
        marks = tree.broadcast_prefix(out_batched, out)
    except TreeStructureError as error:
        raise InvalidArgumentError(
            f"{label}: expected out_batched of the tree of the result, {out_tree}, or a prefix of it, got "
            f"{tree.structure(out_batched)}: {error.message}"
        ) from None
    paths = [tree.keystr(path) for path, _ in tree.leaves_with_path(out)]
    for path, x, mark in zip(paths, leaves, marks, strict=True):
        if not isinstance(mark, bool | np.bool_):
            raise ArgumentTypeError(
                f"{label}: expected booleans as out_batched, got {shorten(mark)} of type {type(mark).__name__} for "
                f"result{path}; return True where it is a batch"
            )
        if mark and get_aval(x).shape[:1] != (size,):
            raise ArgumentTypeError(
                f"{label}: expected a batch of {size} elements, with the batch dimension in front, at result{path}, "
                f"got {get_aval(x)}; move the dimension, or return False as its out_batched"
            )
    dims: list[int | None] = [0 if mark else None for mark in marks]
    site.check_result("the batching rule", out, out_tree, element_avals(leaves, dims))
    return leaves, dims
