"""Programs as data: typed, first-order, with sub-programs that close over the variables around them.

A :class:`Program` is callable, prints as Python that can be pasted, and gives its jaxpr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lawful.core import ClosedJaxpr
from lawful.laws._case import Case
from lawful.laws._implementation import Implementation
from lawful.laws._origin import Origin
from lawful.laws._values import indented
from lawful.staging import make_jaxpr


@dataclass(frozen=True, slots=True)
class Name:
    """A variable: an input, a constant, or what an equation binds."""

    text: str


@dataclass(frozen=True, slots=True)
class Static:
    """A value that stands in the program's text."""

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
    """An equation: a variable for the value of an expression."""

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
    """Returns a single value as it is, and several as a tuple: as functions return them."""
    return values[0] if len(values) == 1 else tuple(values)


@dataclass(frozen=True)
class Program(Case):
    """A program with an example of its inputs.

    Attributes:
      block: the function.
      constants: the arrays that it closes over, by name.
      args: an example of its arguments; their types are those that it is well typed for.
      seed: what the laws draw their directions from.
      origin: what it was drawn from, if it was.
    """

    block: Block
    constants: tuple[tuple[str, Any], ...]
    args: tuple[Any, ...]
    seed: int = 0
    origin: Origin | None = None

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The program as a function of lawful, with its constants."""
        from lawful.laws.systems import lawful

        return self.on(lawful)

    @cached_property
    def _functions(self) -> dict[Implementation, Callable[..., Any]]:
        return {}

    def on(self, system: Implementation) -> Callable[..., Any]:
        from lawful.laws._interpreter import interpreted

        function = self._functions.get(system)
        if function is None:
            function = self._functions[system] = interpreted(self, system)
        return function

    @cached_property
    def _values(self) -> dict[Implementation, Any]:
        return {}

    def value(self, system: Implementation) -> Any:
        # A tenth of the time of laws was to compute it again for each.
        if system not in self._values:
            self._values[system] = super().value(system)
        return self._values[system]

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    @property
    def __name__(self) -> str:
        return self.block.name

    @property
    def equation_count(self) -> int:
        """How many equations the program has, those of sub-programs included."""
        return sum(1 for _ in self.block.equations_within())

    def source(self, system: Implementation | None = None) -> str:
        """Returns Python that defines the program and calls it with its example; it runs when pasted.

        Args:
          system: the one that it imports its functions from; lawful by default.
        """
        from lawful.laws import _source
        from lawful.laws.systems import lawful

        return _source.source(self, system or lawful)

    def jaxpr(self) -> ClosedJaxpr:
        """Returns the program as a jaxpr."""
        closed: ClosedJaxpr = make_jaxpr(self.function)(*self.args)
        return closed

    def text(self, system: Implementation) -> str:
        lines = ["The program:", indented(self.source(system))]
        try:
            lines += ["As a jaxpr:", indented(str(self.jaxpr()))]
        except Exception as error:
            lines += [f"(make_jaxpr of it raises {type(error).__name__}: {error})"]
        if self.origin is not None:
            lines += ["It is drawn again by", indented(str(self.origin))]
        return "\n".join([*lines, f"Directions are drawn with seed {self.seed}."])

    def __repr__(self) -> str:
        return f"\n{self.source()}"
