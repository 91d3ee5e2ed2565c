"""Cases of laws: a function with example arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from lawful.laws._law.implementation import Implementation
from lawful.laws._law.values import expression, indented


class Case(ABC):
    """A function with an example of its arguments.

    Attributes:
      args: the arguments, pytrees of NumPy arrays and Python numbers.
      seed: what the laws draw directions and choices from.

    >>> from lawful import ops
    >>> case = Case.of(ops.square, 3.0)
    >>> from lawful.laws.systems import lawful
    >>> case.args, float(case.value(lawful))
    ((3.0,), 9.0)
    """

    args: tuple[Any, ...]
    seed: int

    @abstractmethod
    def on(self, system: Implementation) -> Callable[..., Any]:
        """Returns the function for a system."""

    def value(self, system: Implementation) -> Any:
        """Returns what the function gives at the arguments: of a program, what it gave the first time.

        That another call gives the same is what the laws of purity say.
        """
        return self.on(system)(*self.args)

    def comparable(self, system: Implementation, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns arguments without elements at which backends of a system are known to compute something else.

        Arguments that are `fixed` are those of the case.
        """
        return args

    @property
    def fixed(self) -> Sequence[int]:
        """The arguments that loops must not change: the function is defined at one value of each only."""
        return ()

    @property
    def is_pointwise(self) -> bool:
        """Whether each element of a result depends only on the operands' elements at the same index."""
        return False

    @abstractmethod
    def text(self, system: Implementation) -> str:
        """Returns the function and the arguments as text."""

    @staticmethod
    def of(function: Callable[..., Any], *args: Any, seed: int = 0) -> Case:
        """Returns a case of a function of one's own.

        >>> from lawful import ops
        >>> from lawful.laws import law_vjp_transpose
        >>> from lawful.laws.systems import lawful
        >>> law_vjp_transpose(lawful, Case.of(ops.sin, 0.5))
        """
        return FunctionCase(function, args, seed)


class FunctionCase(Case):
    """A function written by a user, which one system can run."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], seed: int = 0) -> None:
        self.function = function
        self.args = args
        self.seed = seed

    def on(self, system: Implementation) -> Callable[..., Any]:
        return self.function

    def text(self, system: Implementation) -> str:
        args = indented("\n".join(map(text_of_value, self.args)))
        return f"The function: {self.function!r}\nat the arguments\n{args}"


def text_of_value(value: Any) -> str:
    """Returns a value as Python, or its ``repr`` if there is no such text."""
    try:
        return expression(value)
    except Exception:  # a user's class may raise anything
        return repr(value)
