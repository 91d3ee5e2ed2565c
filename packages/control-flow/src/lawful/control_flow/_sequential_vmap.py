"""``sequential_vmap``: a function that ``vmap`` applies to one batch element after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.control_flow._scan.map import map
from lawful.custom_rules import custom_vmap


def sequential_vmap[R](f: Callable[..., R]) -> Callable[..., R]:
    """Returns a function that ``vmap`` applies to one batch element after another, in a loop.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> from lawful.control_flow import sequential_vmap
    >>> vmap(sequential_vmap(lambda x: x * x))(np.array([1.0, 3.0]))
    array([1., 9.])

    Source: ``jax.custom_batching.sequential_vmap``.
    """
    function = custom_vmap(f)

    @function.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        leaves, treedef = tree.flatten(args)
        batched = tree.leaves(in_batched)
        mapped = [leaf for leaf, is_mapped in zip(leaves, batched, strict=True) if is_mapped]

        def call(elements: list[Any]) -> Any:
            of = iter(elements)
            return f(*tree.unflatten(treedef, [next(of) if m else x for x, m in zip(leaves, batched, strict=True)]))

        out = map(call, mapped)
        return out, tree.map(lambda _: True, out)

    return function
