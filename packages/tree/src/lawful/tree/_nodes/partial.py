"""Partially applied functions as nodes of trees."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

from lawful.tree._nodes.register import register_node


class Partial(functools.partial[Any]):
    """A ``functools.partial`` that is a node: its arguments are children, its function part of the structure.

    So it can be an argument of a transformed function, where a plain function or partial could not be.

    Example:
      >>> from lawful import tree
      >>> add_one = tree.Partial(max, 1)
      >>> add_one(2)
      2
      >>> tree.flatten(add_one)
      ([1], PyTreeDef(CustomNode(Partial[<built-in function max>], [(*,), {}])))

    Source: ``jax.tree_util.Partial``.
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Self:
        # functools.partial would merge with an inner partial and make its arguments children.
        if isinstance(func, functools.partial):
            func = _Opaque(func)
        return super().__new__(cls, func, *args, **kwargs)


class _Opaque:
    """Hides a partial from functools.partial; equal to another if the wrapped functions are equal."""

    def __init__(self, wrapped: Callable[..., Any]) -> None:
        self.wrapped = wrapped

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.wrapped(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self.wrapped == (other.wrapped if isinstance(other, _Opaque) else other)

    def __hash__(self) -> int:
        return hash(self.wrapped)

    def __repr__(self) -> str:
        return repr(self.wrapped)


register_node(
    Partial,
    lambda node: ((node.args, node.keywords), node.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
