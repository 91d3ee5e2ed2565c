"""``trace``: runs a function, and makes a node of a user's class for each operation on its argument."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Self

from lawful.autograd import _tree as tree
from lawful.autograd.util import subvals
from lawful.core import (
    Primitive,
    Trace,
    Tracer,
    current,
    get_aval,
    new_trace,
    register_array_type,
    set_current,
    user_source,
)

Function = Callable[..., Any]


class Node:
    """A record of one operation. A subclass defines ``__init__`` and ``initialize_root``.

    Args:
      value: the result.
      fun: the operation, with a ``__name__``; ``fun(*args, **kwargs)`` is ``value``.
      args: its arguments.
      kwargs: its settings.
      parent_argnums: the numbers of the arguments that are traced.
      parents: their nodes.

    >>> class Depth(Node):
    ...     def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
    ...         self.depth = 1 + max(parent.depth for parent in parents)
    ...
    ...     def initialize_root(self):
    ...         self.depth = 0
    >>> trace(Depth.new_root(), lambda x: x * x + x, 3.0)[1].depth
    2
    """

    __slots__ = ()

    def __init__(
        self,
        value: Any,
        fun: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        parent_argnums: tuple[int, ...],
        parents: tuple[Any, ...],
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__}.__init__")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Makes a new object the node of the argument of the function."""
        raise NotImplementedError(f"{type(self).__name__}.initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Self:
        """Returns the node of the argument of a function that is to be traced."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class NodeTracer(Tracer):
    """A value with its node."""

    __slots__ = ("aval", "node", "source", "value")

    def __init__(self, trace: Trace, value: Any, node: Any) -> None:
        self._trace = trace
        self.value = value
        self.node = node
        self.aval = get_aval(value)
        self.source = user_source()

    def parent_value(self) -> Any:
        return self.value


register_array_type(NodeTracer, aval=attrgetter("aval"))


class NodeTrace(Trace):
    """Evaluates each operation by the parent, and makes a node of it."""

    __slots__ = ("node_type",)

    def __init__(self, parent: Trace, node_type: type) -> None:
        super().__init__(parent, "trace")
        self.node_type = node_type

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        parents = {i: x for i, x in enumerate(args) if isinstance(x, NodeTracer) and x._trace is self}
        values = subvals(args, [(i, x.value) for i, x in parents.items()])
        with set_current(self.parent):  # type: ignore[arg-type]  # a trace that is not evaluation has one
            outs = primitive.bind(*values, **params)
        if not parents:
            return outs
        argnums, nodes = tuple(parents), tuple([x.node for x in parents.values()])

        def box(position: int | None, value: Any) -> Any:
            operation = Operation(primitive, position)
            return NodeTracer(self, value, self.node_type(value, operation, values, params, argnums, nodes))

        return [box(i, x) for i, x in enumerate(outs)] if primitive.multiple_results else box(None, outs)


class Operation:
    """A primitive as a function of its operands; of one with several results, one of them."""

    def __init__(self, primitive: Primitive, position: int | None) -> None:
        self.__name__ = primitive.name
        self._primitive = primitive
        self._position = position

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outs = self._primitive.bind(*args, **kwargs)
        return outs if self._position is None else outs[self._position]


class Leaf:
    """The operation that takes a leaf out of a pytree."""

    def __init__(self, position: int) -> None:
        self.__name__ = "leaf"
        self._position = position

    def __call__(self, x: Any) -> Any:
        return tree.leaves(x)[self._position]


def trace(start_node: Any, fun: Function, x: Any) -> tuple[Any, Any]:
    """Returns ``fun(x)`` and its node; the node is None if it does not depend on ``x``.

    Args:
      start_node: the node of ``x``.
      fun: a function.
      x: its argument, an array or a pytree of them. The leaves of a tree are traced.

    >>> class Name(Node):
    ...     def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
    ...         self.name = fun.__name__
    ...
    ...     def initialize_root(self):
    ...         self.name = "argument"
    >>> value, node = trace(Name.new_root(), lambda x: x * 2.0, 3.0)
    >>> float(value), node.name
    (6.0, 'mul')
    """
    node_type = type(start_node)
    tracing = NodeTrace(current.trace, node_type)
    leaves, treedef = tree.flatten(x)
    nodes = [start_node]
    if treedef is not tree.LEAF:
        nodes = [node_type(leaf, Leaf(i), (x,), {}, (0,), (start_node,)) for i, leaf in enumerate(leaves)]
    with new_trace(tracing):
        result = fun(
            treedef.unflatten([NodeTracer(tracing, leaf, node) for leaf, node in zip(leaves, nodes, strict=True)])
        )
    if isinstance(result, NodeTracer) and result._trace is tracing:
        return result.value, result.node
    warnings.warn("Output seems independent of input.", stacklevel=2)
    return result, None
