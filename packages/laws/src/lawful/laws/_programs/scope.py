"""The variables in scope of a program under construction, each with its values for the example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from string import ascii_lowercase
from typing import Any

import numpy as np

from lawful.core import ShapedArray, get_aval, kind
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.interpreter import resolve
from lawful.laws._programs.syntax import Apply, Equation, Expression, Static
from lawful.laws.systems import lawful

#: The values of an expression: one, or one for each batch element or iteration of the enclosing functions.
Elements = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression with its values for the example."""

    expression: Expression
    values: Elements

    @property
    def value(self) -> Any:
        """The value in the first batch element; all have the same type."""
        return self.values[0]

    def wrapped(self, function: str, *others: Static, **params: Any) -> Operand:
        """Returns the application of a function to the operand and static values."""
        return applied(function, (self, *map(static, others)), **params)


def static(constant: Static) -> Operand:
    """Returns a static value as an operand."""
    return Operand(constant, (constant.value,))


def applied(function: str, operands: Sequence[Operand], **params: Any) -> Operand:
    """Returns the application of a function to operands."""
    call = resolve(function, lawful)
    values = tuple([call(*args, **params) for args in by_element([x.values for x in operands])])
    return Operand(Apply(function, tuple([x.expression for x in operands]), tuple(params.items())), values)


def by_element(values: Sequence[Elements]) -> list[tuple[Any, ...]]:
    """Returns the values of several expressions, grouped by batch element.

    The elements of an inner function are nested within each element of the outer one, whose values are repeated.
    """
    count = max(map(len, values), default=1)
    if count == 1:
        return [tuple([elements[0] for elements in values])]
    return [tuple([elements[i * len(elements) // count] for elements in values]) for i in range(count)]


class Variable:
    """A variable with the values that it has for the example.

    Attributes:
      name: its name, or what it is reached by: ``t['p'][0]``.
      expression: the variable as an expression.
      values: one for each element.
      aval: the type.
      kind: the kind of dtype, of ``b i u f c``.
      operand: the variable as an operand.
    """

    __slots__ = ("aval", "expression", "kind", "operand", "values")

    def __init__(self, expression: Expression, values: Elements) -> None:
        self.expression = expression
        self.values = values
        self.aval: ShapedArray = get_aval(values[0])
        self.kind: str = kind(self.aval.dtype)
        self.operand = Operand(expression, values)

    @property
    def value(self) -> Any:
        """The value in the first batch element."""
        return self.values[0]


@dataclass(slots=True)
class Frame:
    """A function under construction: its variables and equations, and the frame around it.

    Attributes:
      outer: the frame around it.
      variables: those that it binds.
      equations: what it computes.
      elements: how many values its variables have.
    """

    outer: Frame | None
    variables: list[Variable] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    elements: int = 1

    @property
    def depth(self) -> int:
        """The number of enclosing frames."""
        return 0 if self.outer is None else self.outer.depth + 1

    def visible(self) -> Iterator[Variable]:
        """Yields the variables that an equation here can use, the newest first."""
        frame: Frame | None = self
        while frame is not None:
            yield from reversed(frame.variables)
            frame = frame.outer


# Keywords, and names of a system's scope.
_TAKEN = frozenset({"as", "if", "in", "is", "or", "and", "def", "for", "not", "np", "ops", "jit", "jvp", "vjp"})


class Names:
    """Returns a new variable name each time, never a Python keyword."""

    def __init__(self) -> None:
        words = ("".join(letters) for length in count(1) for letters in product(ascii_lowercase, repeat=length))
        self._words = (word for word in words if word not in _TAKEN)
        self._functions = (f"f{number}" for number in count(1))

    def variable(self) -> str:
        """Returns the name of a new variable."""
        return next(self._words)

    def function(self) -> str:
        """Returns the name of a new function."""
        return next(self._functions)


class ScopedChoose(Chooser):
    """Draws shapes and dtypes that variables have, so that a declared call finds its operands."""

    def __init__(self, choose: Chooser, variables: list[Variable]) -> None:
        super().__init__(choose.dtypes)
        self.choose = choose
        self.variables = variables
        self._found: Variable | None = None

    def integer(self, low: int, high: int) -> int:
        return self.choose.integer(low, high)

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        fitting = [v for v in self.variables if min_ndim <= v.aval.ndim <= max_ndim]
        index = self.choose.integer(0, len(fitting))
        if index == len(fitting):
            return self.choose.shape(min_ndim, max_ndim)
        self._found = fitting[index]
        return self._found.aval.shape

    def dtype(self, kinds: str) -> np.dtype[Any]:
        found, self._found = self._found, None
        if found is not None and found.kind in kinds and found.aval.dtype in self.dtypes:
            return found.aval.dtype
        return self.choose.dtype(kinds)


def of_kinds(kinds: str) -> Callable[[Variable], bool]:
    """Returns the predicate of variables whose dtype is of one of the kinds."""
    return lambda variable: variable.kind in kinds
