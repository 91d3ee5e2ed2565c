"""The variables that a program under construction can use, each with the value that it has for the example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from string import ascii_lowercase
from typing import Any

import numpy as np

from lawful.core import ShapedArray, get_aval, kind
from lawful.laws._choose import Chooser
from lawful.laws._program import Apply, Equation, Expression, Name, Static
from lawful.laws._source import resolve


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression with the value that it has for the example."""

    expression: Expression
    value: Any

    def wrapped(self, function: str, *others: Static, **params: Any) -> Operand:
        """Returns a function of the operand and of static values."""
        return applied(function, (self, *[Operand(x, x.value) for x in others]), **params)


def applied(function: str, operands: Sequence[Operand], **params: Any) -> Operand:
    """Returns a function of operands."""
    value = resolve(function)(*[x.value for x in operands], **params)
    return Operand(Apply(function, tuple(x.expression for x in operands), tuple(params.items())), value)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable with the value that it has for the example."""

    name: str
    value: Any

    @property
    def aval(self) -> ShapedArray:
        """The type."""
        return get_aval(self.value)

    @property
    def kind(self) -> str:
        """The kind of dtype, of ``b i u f c``."""
        return kind(self.aval.dtype)

    @property
    def operand(self) -> Operand:
        """The variable as an operand."""
        return Operand(Name(self.name), self.value)


@dataclass(slots=True)
class Frame:
    """A function under construction: its variables and equations, and the frame around it."""

    outer: Frame | None
    variables: list[Variable] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many frames are around it."""
        return 0 if self.outer is None else self.outer.depth + 1

    def visible(self) -> Iterator[Variable]:
        """Yields the variables that an equation here can use, the newest first."""
        frame: Frame | None = self
        while frame is not None:
            yield from reversed(frame.variables)
            frame = frame.outer


class Names:
    """Gives a new variable name each time, no Python keyword among them."""

    def __init__(self) -> None:
        words = ("".join(letters) for length in count(1) for letters in product(ascii_lowercase, repeat=length))
        self._words = (word for word in words if word not in ("as", "if", "in", "is", "or", "np", "ops", "jit"))
        self._functions = (f"f{number}" for number in count(1))

    def variable(self) -> str:
        """Returns the name of a new variable."""
        return next(self._words)

    def function(self) -> str:
        """Returns the name of a new function."""
        return next(self._functions)


class ScopedChoose(Chooser):
    """Draws shapes and dtypes that variables have, so that a declaration's call finds its operands."""

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
    """Returns whether a variable has a dtype of one of some kinds."""
    return lambda variable: variable.kind in kinds
