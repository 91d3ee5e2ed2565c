"""The syntax of programs: typed, first-order, with sub-programs that close over the variables around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Name:
    """A variable: an input, a constant, or bound by an equation."""

    text: str


@dataclass(frozen=True, slots=True)
class Static:
    """A value written in the program's text."""

    value: Any


@dataclass(frozen=True, slots=True)
class Apply:
    """A function applied to expressions.

    Attributes:
      function: ``"ops.sin"``; ``"operator.add"``, which prints as an operator; ``".sum"`` for a method of the first
        operand, and ``".T "`` with a space for an attribute.
      operands: the positional arguments; a tuple of expressions is a list of them.
      params: the keyword arguments.
    """

    function: str
    operands: tuple[Expression | tuple[Expression, ...], ...]
    params: tuple[tuple[str, Any], ...] = ()


Expression = Name | Static | Apply


@dataclass(frozen=True, slots=True)
class Assign:
    """An equation that binds a variable to the value of an expression."""

    target: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Nest:
    """An equation with sub-programs.

    Attributes:
      targets: the variable for the result, or a tree of tuples of them.
      form: how the sub-programs are called, a key of ``forms``.
      blocks: the sub-programs.
      operands: what they are called with, a tree of tuples.
      settings: what else the form needs, by name: a static value or an expression.
    """

    targets: Any
    form: str
    blocks: tuple[Block, ...]
    operands: tuple[Any, ...]
    settings: tuple[tuple[str, Any], ...] = ()


Equation = Assign | Nest


@dataclass(frozen=True, slots=True)
class Block:
    """A function: its equations may use variables of the blocks around it.

    Attributes:
      name: the function's name.
      parameters: the variables for its arguments.
      equations: what it computes, in order.
      results: what it returns: a variable, or a tree of tuples, lists and dicts of them.
    """

    name: str
    parameters: tuple[str, ...]
    equations: tuple[Equation, ...]
    results: Any

    def equations_within(self) -> Iterator[Equation]:
        """Yields all equations, also those of sub-programs."""
        for equation in self.equations:
            yield equation
            if isinstance(equation, Nest):
                for block in equation.blocks:
                    yield from block.equations_within()


def one_or_all(values: Sequence[Any]) -> Any:
    """Returns a single value itself, and several as a tuple, as functions return them."""
    return values[0] if len(values) == 1 else tuple(values)
