"""``custom_vmap``: a function with a rule of its own for ``vmap``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from lawful import tree
from lawful.batching import AxisData
from lawful.core import (
    ArgumentTypeError,
    ConcretizationTypeError,
    MissingRuleError,
    Primitive,
    ShapedArray,
    TreeStructureError,
    get_aval,
    shorten,
)
from lawful.custom_rules._call.batched_rules import Batched, CallRules, element_avals
from lawful.custom_rules._call.function import CustomFunction
from lawful.custom_rules._call.primitive import custom_call
from lawful.custom_rules._call.site import CallSite, describe_result
from lawful.ops import move_batch_dim
from lawful.staging import flatten_outputs, function_name, trace_to_jaxpr

F = TypeVar("F", bound=Callable[..., Any])

custom_vmap_call_p = custom_call("custom_vmap_call")


class custom_vmap(CustomFunction):
    """A function whose batched form is given by a rule.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.

    ``def_vmap`` gives the rule. Where no argument is mapped, the function itself runs. Its derivatives are those of the
    function; under ``vmap`` they are those of the rule. So are compiled and other forms: the rule says what ``vmap``
    means, wherever it stands in a stack of transformations.

    Raises:
      MissingRuleError: it is called before ``def_vmap``.
      ArgumentTypeError: the rule gives another tree, shape or dtype than the function does for each element.

    Law: if the rule gives what the loop gives, so does every transformation. Source:
    ``jax.custom_batching.custom_vmap``; there it has no reverse mode.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> @custom_vmap
    ... def solve(a, b):
    ...     return b / a
    >>> @solve.def_vmap
    ... def _(axis_size, in_batched, a, b):
    ...     a_batched, b_batched = in_batched
    ...     print(f"{axis_size} at once")
    ...     return b / a, a_batched or b_batched
    >>> vmap(solve, in_axes=(None, 0))(2.0, np.array([2.0, 4.0]))
    2 at once
    array([1., 2.])
    """

    kind = "custom_vmap"
    takes_settings = False

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)
        self.vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: F) -> F:
        """Defines the rule, and returns it, so that this is a decorator.

        Args:
          vmap_rule: ``rule(axis_size, in_batched, *args)`` gives ``(out, out_batched)``. ``in_batched`` is a list with
            a tree of booleans for each argument: whether a leaf is a batch, with its batch dimension in front. The
            result likewise, with ``out_batched`` such a tree; one boolean may stand for a whole subtree.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    @property
    def carried_functions(self) -> list[Callable[..., Any]]:
        """The function and its rule."""
        return [self.fun] if self.vmap_rule is None else [self.fun, self.vmap_rule]

    def _require_rules(self) -> None:
        if self.vmap_rule is None:
            raise MissingRuleError(
                f"{self.label}: expected a batching rule, got none; define it with @{self.name}.def_vmap"
            )

    def _call(self, site: CallSite) -> tuple[Primitive, CallRules]:
        assert self.vmap_rule is not None
        return custom_vmap_call_p, CallRules(
            ("custom_vmap", site), batch=batch_by(self.vmap_rule, site), closed_over=site.closed_over
        )


def batch_by(rule: Callable[..., Any], site: CallSite) -> Batched:
    """Returns a user's batching rule as one of flat lists.

    Args:
      rule: ``rule(axis_size, in_batched, *args)`` gives ``(out, out_batched)``.
      site: the call of the function.
    """
    label = f"{site.function.label}, batching rule {function_name(rule)}"

    def batch(
        axis_data: AxisData, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[list[Any], list[int | None]]:
        in_front = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
        in_batched = site.marks([dim is not None for dim in dims])
        pair = site.calling(
            lambda nondiff, leaves: rule(axis_data.size, in_batched, *site.arguments(nondiff, leaves)), in_front
        )
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentTypeError(
                f"{label}: expected a pair (out, out_batched), got {describe_result(pair)}; return the result, and "
                "whether each leaf of it is a batch"
            )
        if site.out_avals is None:
            _find_result_types(site, element_avals(args, dims))
        return _checked(label, site, axis_data.size, *pair)

    return batch


def _find_result_types(site: CallSite, avals: Sequence[ShapedArray]) -> None:
    """Traces a function at the types of an element, so that the site knows what its results are like."""
    with suppress(ConcretizationTypeError):  # only values tell what it returns
        trace_to_jaxpr(site.run, avals, transformation=site.function.label, name=site.function.name)


def _checked(label: str, site: CallSite, size: int, out: Any, out_batched: Any) -> tuple[list[Any], list[int | None]]:
    """Returns the leaves of a rule's result and their batch dimensions."""
    leaves, out_tree = flatten_outputs(label, out)
    try:
        marks = tree.broadcast_prefix(out_batched, out)
    except TreeStructureError as error:
        raise ArgumentTypeError(
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
    site.settle_types("the batching rule", out, out_tree, element_avals(leaves, dims))
    return leaves, dims
