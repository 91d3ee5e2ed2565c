"""Calls of a function: one description of how arguments are drawn, for every function of the standard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arrays import Strategy

#: A strategy, or a function that returns one from the positional arguments drawn so far.
Drawer = Strategy | Callable[..., Strategy]


@dataclass(frozen=True)
class Call:
    """Arguments: NumPy arrays, NumPy dtypes in place of a namespace's own, and other values unchanged."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"({', '.join([*map(_short, self.args), *named])})"


def _short(x: Any) -> str:
    large = isinstance(x, np.ndarray) and x.size > 30
    return f"<{x.dtype}{list(x.shape)}>" if large else repr(x)


class Several(tuple[Any, ...]):
    """Arguments that are drawn together."""

    __slots__ = ()


@dataclass(frozen=True)
class Always:
    """A keyword argument that is always given."""

    drawer: Drawer


def always(drawer: Drawer) -> Any:
    """Marks a keyword argument that is always given."""
    return Always(drawer)


@st.composite
def call(draw: st.DrawFn, *args: Drawer, **kwargs: Any) -> Call:
    """Draws calls, with each keyword or without it.

    Args:
      draw: Hypothesis's own.
      args: for each positional argument a strategy, or a function of those before; one of `Several` makes several.
      kwargs: for each keyword the same, or `always` of the same; a function gets the positional arguments.
    """
    drawn: list[Any] = []
    for drawer in args:
        value = draw(_strategy(drawer, drawn))
        drawn.extend(value if type(value) is Several else (value,))
    named = {}
    for name, drawer in kwargs.items():
        if isinstance(drawer, Always):
            named[name] = draw(_strategy(drawer.drawer, drawn))
        elif draw(st.booleans()):
            named[name] = draw(_strategy(drawer, drawn))
    return Call(tuple(drawn), named)


def with_keyword(name: str, drawn: Strategy) -> Strategy:
    """Draws calls whose last drawn argument is passed by keyword."""
    return drawn.map(lambda args: Call(tuple(args[:-1]), {name: args[-1]}))


def _strategy(drawer: Drawer, drawn: list[Any]) -> Strategy:
    return drawer if isinstance(drawer, st.SearchStrategy) else drawer(*drawn)
