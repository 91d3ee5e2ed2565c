"""A call of a user's primitive: which of its arguments are traced, and the structure of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from lawful.autograd import _tree as tree
from lawful.autograd._primitive.rules import Rules
from lawful.core import ArgumentTypeError, ArgumentValueError, ShapedArray, Tracer, Zero, get_aval, is_array, zeros
from lawful.numpy import broadcast_to, real, reshape

Function = Callable[..., Any]

_CONTAINERS = (tuple, list, dict)


def is_traced(x: Any) -> bool:
    """Whether an argument is a tracer, or a tuple, list or dict that has one."""
    if isinstance(x, Tracer):
        return True
    return isinstance(x, _CONTAINERS) and any([isinstance(leaf, Tracer) for leaf in tree.leaves(x)])


class Hole:
    """An argument that is traced, or of which a part is.

    Args:
      argnum: its number.
      x: the argument; None stands for a tracer.

    Attributes:
      argnum: its number.
      treedef: its structure; None for a tracer.
      leaves: its leaves, with None at those that are operands.
      positions: the positions of these among the leaves.
    """

    __slots__ = ("argnum", "leaves", "positions", "treedef")

    def __init__(self, argnum: int, x: Any) -> None:
        self.argnum = argnum
        self.treedef: Any = None
        self.leaves: list[Any] = [x]
        self.positions = [0]
        if not (x is None or isinstance(x, Tracer)):
            self.leaves, self.treedef = tree.flatten(x)
            self.positions = [i for i, leaf in enumerate(self.leaves) if is_array(leaf)]

    def take(self) -> list[Any]:
        """Returns the operands, which are taken out of the leaves."""
        operands = [self.leaves[i] for i in self.positions]
        for i in self.positions:
            self.leaves[i] = None
        return operands

    def fill(self, operands: Iterator[Any]) -> Any:
        """Returns the argument with other operands."""
        if self.treedef is None:
            return next(operands)
        leaves = list(self.leaves)
        for i in self.positions:
            leaves[i] = next(operands)
        return self.treedef.unflatten(leaves)

    def derivative(self, operands: Sequence[Any]) -> Any:
        """Returns a tangent of the argument from those of its operands; what is no operand has None."""
        return self.fill(iter(operands))

    def parts(self, derivative: Any) -> list[Any]:
        """Returns the cotangents of the operands from that of the argument; None for zero."""
        if derivative is None or self.treedef is None:
            return [derivative] * len(self.positions)
        leaves = tree.flatten_like(derivative, self.treedef.unflatten(self.leaves), self.treedef)
        return [leaves[i] for i in self.positions]


class Call:
    """One call of a primitive. Its operands are the tracers among the arguments, and what is in a tree with them.

    Attributes:
      function: the function itself.
      rules: its derivatives.
      kwargs: the arguments by name, which are not differentiated.
      out_tree: the structure of the result, once it has been evaluated.
      evaluated: the leaves of the result if it has been evaluated and not yet used.
    """

    __slots__ = ("_args", "_holes", "evaluated", "function", "kwargs", "out_tree", "rules")

    def __init__(self, function: Function, rules: Rules, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.rules = rules
        self.kwargs = kwargs
        self.out_tree: Any = None
        self.evaluated: list[Any] | None = None
        self._args = list(args)
        self._holes = [Hole(i, x) for i, x in enumerate(args) if is_traced(x)]

    @classmethod
    def at(
        cls, argnums: Sequence[int], function: Function, rules: Rules, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Call:
        """Returns the call of which the arguments of these numbers are operands, and the result is an array."""
        call = cls(function, rules, (), kwargs)
        call.out_tree = tree.LEAF
        call._args = list(args)
        call._holes = [Hole(argnum, None) for argnum in argnums]
        return call

    def operands(self) -> list[Any]:
        """Returns the operands; called once, when the call is made."""
        for hole in self._holes:
            self._args[hole.argnum] = None
        return [x for hole in self._holes for x in hole.take()]

    def arguments(self, operands: Sequence[Any]) -> list[Any]:
        """Returns the positional arguments with these operands."""
        args, given = list(self._args), iter(operands)
        for hole in self._holes:
            args[hole.argnum] = hole.fill(given)
        return args

    def evaluate(self, operands: Sequence[Any]) -> list[Any]:
        """Returns the leaves of the result, and sets its structure.

        Raises:
          ArgumentTypeError: a leaf is no array.
        """
        return self.leaves_of(self.function(*self.arguments(operands), **self.kwargs))

    def leaves_of(self, result: Any) -> list[Any]:
        """Returns the leaves of the result, and sets its structure; raises as `evaluate`."""
        leaves, self.out_tree = tree.flatten(result)
        for x in leaves:
            if not is_array(x):
                raise ArgumentTypeError(
                    f"{self.rules.name}: expected arrays as the result of a primitive, got a {type(x).__name__}; "
                    "return arrays, numbers, or tuples, lists and dicts of them"
                )
        return leaves

    def result(self, leaves: Sequence[Any]) -> Any:
        """Returns the result from its leaves."""
        return self.out_tree.unflatten(leaves)

    def tangent_leaves(self, tangent: Any) -> list[Any]:
        """Returns the leaves of a tangent of the result."""
        return tree.flatten_like(tangent, self.result([None] * self.out_tree.num_leaves), self.out_tree)

    def chosen(self, nonzeros: Sequence[bool]) -> list[Hole]:
        """Returns the arguments that have an operand with a tangent that is not zero."""
        given = iter(nonzeros)
        return [hole for hole in self._holes if any([next(given) for _ in hole.positions])]

    def tangents(self, tangents: Sequence[Any]) -> list[Any]:
        """Returns the tangents of the arguments that have one, from those of the operands."""
        given = iter(tangents)
        found = []
        for hole in self._holes:
            parts = [next(given) for _ in hole.positions]
            if any([type(t) is not Zero for t in parts]):
                found.append(hole.derivative([zeros(t.aval) if type(t) is Zero else t for t in parts]))
        return found

    def cotangents(self, chosen: Sequence[Hole], derivatives: Sequence[Any]) -> list[Any]:
        """Returns the cotangents of the operands from those of some arguments; None for zero."""
        given = {hole.argnum: hole.parts(ct) for hole, ct in zip(chosen, derivatives, strict=True)}
        return [ct for hole in self._holes for ct in given.get(hole.argnum, [None] * len(hole.positions))]


def fitted(name: str, x: Any, aval: ShapedArray) -> Any:
    """Returns what a user's rule gave as a tangent or cotangent of a type: converted, and broadcast.

    Args:
      name: of the function, for messages.
      x: the derivative.
      aval: its type.

    Raises:
      ArgumentValueError: its shape does not broadcast to that of the type.
    """
    if isinstance(x, Tracer) or type(x) is numpy.ndarray:
        if x.dtype == aval.dtype and x.shape == aval.shape:
            return x
    elif not is_array(x):
        x = numpy.asarray(x)
    got = get_aval(x)
    if got.dtype.kind == "c" and aval.dtype.kind != "c":
        x = real(x)
    if got.shape != aval.shape:
        if got.size == aval.size:
            x = reshape(x, aval.shape)
        else:
            try:
                x = broadcast_to(x, aval.shape)
            except ValueError as error:
                raise ArgumentValueError(
                    f"{name}: expected a derivative of the shape {aval.shape}, got {got.shape}; sum it over the "
                    "dimensions that were broadcast, for example with lawful.autograd.numpy.numpy_vjps.unbroadcast_f"
                ) from error
    if get_aval(x).dtype == aval.dtype:
        return x
    return aval.dtype.type(x) if isinstance(x, int | float) else numpy.astype(x, aval.dtype)
