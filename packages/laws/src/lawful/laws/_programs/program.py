"""Programs as data: a block with constants and an example of its inputs.

A :class:`Program` is callable, prints as Python that can be pasted, and gives its jaxpr.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lawful.core import ClosedJaxpr
from lawful.laws._law.case import Case
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.values import indented
from lawful.laws._programs.interpreter import interpreted
from lawful.laws._programs.origin import Origin
from lawful.laws._programs.source import source as source_of
from lawful.laws._programs.syntax import Block
from lawful.laws.systems import lawful
from lawful.staging import make_jaxpr


@dataclass(frozen=True)
class Program(Case):
    """A program with an example of its inputs.

    Attributes:
      block: the function.
      constants: the arrays that it closes over, by name.
      args: an example of its arguments; their types are those that it is well typed for.
      seed: what the laws draw their directions from.
      origin: what it was drawn from, if it was.

    >>> from lawful.laws import RandomChoose, draw_program
    >>> program = draw_program(RandomChoose(1))
    >>> program.equation_count >= 1, len(program.jaxpr().in_avals) >= len(program.args)
    (True, True)
    """

    block: Block
    constants: tuple[tuple[str, Any], ...]
    args: tuple[Any, ...]
    seed: int = 0
    origin: Origin | None = None

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The program as a function of lawful, with its constants."""
        return self.on(lawful)

    @cached_property
    def _functions(self) -> dict[Implementation, Callable[..., Any]]:
        return {}

    def on(self, system: Implementation) -> Callable[..., Any]:
        function = self._functions.get(system)
        if function is None:
            function = self._functions[system] = interpreted(self, system)
        return function

    @cached_property
    def _values(self) -> dict[Implementation, Any]:
        return {}

    def value(self, system: Implementation) -> Any:
        # Cached: laws compare with this value many times.
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
        """The number of equations, those of sub-programs included."""
        return sum(1 for _ in self.block.equations_within())

    def source(self, system: Implementation | None = None) -> str:
        """Returns Python that defines the program and calls it with its example; it runs when pasted.

        Args:
          system: the one that it imports its functions from; lawful by default.
        """
        return source_of(self, system or lawful)

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
