"""Graphs of operations: recorded once and replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from itertools import repeat
from typing import Any

from lawful.autograd._tracing.node import Node, trace
from lawful.autograd.util import subvals, toposort

Function = Callable[..., Any]


class ConstGraphNode(Node):
    """An operation with its constant arguments.

    Attributes:
      parents: the nodes of the other arguments.

    >>> _, end = trace(ConstGraphNode.new_root(), lambda x: x * 3.0, 2.0)
    >>> float(end.apply([5.0]))
    15.0
    """

    __slots__ = ("_argnums", "_args", "_fun", "_kwargs", "parents")

    def __init__(
        self,
        value: Any,
        fun: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parent_argnums: tuple[int, ...],
        parents: tuple[Any, ...],
    ) -> None:
        self._fun = fun
        self._args = subvals(args, zip(parent_argnums, repeat(None)))
        self._kwargs = kwargs
        self._argnums = parent_argnums
        self.parents = parents

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        self.parents = ()

    def apply(self, values: Sequence[Any]) -> Any:
        """Returns the result with other values of the parents."""
        return self._fun(*subvals(self._args, zip(self._argnums, values, strict=True)), **self._kwargs)


def const_graph_unary(fun: Function) -> Function:
    """Returns a function of one argument that is run once: later calls apply the same operations.

    They apply to arguments of the shapes of the first call, whatever Python's control flow would choose.

    >>> calls = []
    >>> square = const_graph_unary(lambda x: calls.append(x) or x * x)
    >>> square(2.0), square(3.0), len(calls)
    (4.0, 9.0, 1)
    """
    recorded: list[Any] = []

    def replayed(x: Any) -> Any:
        if not recorded:
            value, end = trace(ConstGraphNode.new_root(), fun, x)
            if end is None:
                raise ValueError("const_graph: expected a function of its argument, got one that is independent of it")
            recorded.extend([*toposort(end)][::-1])
            return value
        values = {recorded[0]: x}
        for node in recorded[1:]:
            values[node] = node.apply([values[parent] for parent in node.parents])
        return values[recorded[-1]]

    return replayed


def const_graph(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Returns a function of the arguments that are not given here, which is run once: see `const_graph_unary`.

    >>> power = const_graph(lambda n, x, y: x**n + y, 2)
    >>> float(power(3.0, 1.0)), float(power(4.0, 1.0))
    (10.0, 17.0)
    """
    given = partial(fun, *args, **kwargs)
    unary = const_graph_unary(lambda rest: given(*rest))
    return wraps(fun)(lambda *rest: unary(rest))


class FullGraphNode(Node):
    """An operation with its result.

    Attributes:
      value: the result.
      recipe: the operation, its arguments, its settings, and pairs of argument numbers and nodes.

    >>> _, end = trace(FullGraphNode.new_root(), lambda x: x * 3.0, 2.0)
    >>> float(end.value)
    6.0
    """

    __slots__ = ("recipe", "value")

    def __init__(
        self,
        value: Any,
        fun: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parent_argnums: tuple[int, ...],
        parents: tuple[Any, ...],
    ) -> None:
        self.value = value
        self.recipe: tuple[Any, ...] = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])


def full_graph(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """Returns the node of the result of a function, which has all others as ancestors.

    >>> end = full_graph(lambda x: x * x, 3.0)
    >>> float(end.value), end.recipe[0].__name__
    (9.0, 'mul')
    """
    return trace(FullGraphNode.new_root(), lambda given: fun(*given, **kwargs), args)[1]
