"""The sources of random choices: Hypothesis, which can shrink them, or a seeded generator.

Both implement ``lawful.core.Choose``, so that a primitive's declaration draws from either.

>>> RandomChoose(0).integer(1, 6) in range(1, 7)
True
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from lawful.core import kind, supported_dtypes

T = TypeVar("T")

#: Every dtype but the 8-bit floats, which represent hardly any number exactly.
usual_dtypes: tuple[np.dtype[Any], ...] = tuple(dtype for dtype in supported_dtypes if "float8" not in dtype.name)
#: The dtypes of 64-bit precision, in which rounding hides no error.
wide_dtypes: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("float64", "int64", "bool", "complex128", "uint64")))

# The frequency of each dimension length; Hypothesis shrinks to the first.
_LENGTHS = (1, 2, 3, 2, 4, 3, 2, 1, 3, 2, 4, 3, 2, 3, 0)


# Indices into a list of variables, newest first.
_EARLY = (0, 0, 0, 1, 1, 2, 3, 4)


class Chooser(ABC):
    """Draws shapes and dtypes by drawing integers.

    Args:
      dtypes: those that may be drawn; any supported one where none of them is of a kind that is asked for.

    Attributes:
      choices: the integers that were drawn where there was a choice; Hypothesis replays them.
    """

    def __init__(self, dtypes: Sequence[np.dtype[Any]] = wide_dtypes) -> None:
        self.dtypes = tuple(dtypes)
        self.choices: list[int] = []

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """Returns an integer between both bounds, which are included."""

    def one_of(self, choices: Sequence[T]) -> T:
        """Returns one of the choices; the first is the simplest."""
        return choices[self.integer(0, len(choices) - 1)]

    def early(self, choices: Sequence[T]) -> T:
        """Returns one of the choices; the first ones, which are the simplest, are more frequent."""
        return choices[min(self.one_of(_EARLY), len(choices) - 1)]

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        """Returns a shape of small sizes, seldom zero."""
        return tuple([self.one_of(_LENGTHS) for _ in range(self.integer(min_ndim, max_ndim))])

    def dtype(self, kinds: str) -> np.dtype[Any]:
        """Returns a dtype of one of the kinds ``b i u f c``."""
        found = [dtype for dtype in self.dtypes if kind(dtype) in kinds]
        return self.one_of(found or [dtype for dtype in usual_dtypes if kind(dtype) in kinds])

    def part(self, draw: Callable[[Chooser], T]) -> T:
        """Returns ``draw(self)`` as one group of choices, which shrinking may remove as a whole."""
        return draw(self)


class RandomChoose(Chooser):
    """Draws from Python's seeded generator.

    Args:
      seed: what it starts from, or the generator itself.
      dtypes: those that may be drawn.

    >>> RandomChoose(0).shape() == RandomChoose(0).shape()
    True
    """

    def __init__(self, seed: int | random.Random, dtypes: Sequence[np.dtype[Any]] = wide_dtypes) -> None:
        super().__init__(dtypes)
        self.seed = None if isinstance(seed, random.Random) else seed
        self.random = seed if isinstance(seed, random.Random) else random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        if low == high:
            return low
        choice = low + int(self.random.random() * (high - low + 1))
        self.choices.append(choice)
        return choice


class ReplayChoose(Chooser):
    """Replays recorded choices, and then draws the simplest ones; a choice out of range is clamped.

    Args:
      choices: what was drawn where there was a choice.
      dtypes: those that may be drawn.

    >>> choose = ReplayChoose([2, 0])
    >>> choose.one_of("abc"), choose.one_of("abc"), choose.one_of("abc")
    ('c', 'a', 'a')
    """

    def __init__(self, choices: Sequence[int], dtypes: Sequence[np.dtype[Any]] = wide_dtypes) -> None:
        super().__init__(dtypes)
        self.given = iter(choices)

    def integer(self, low: int, high: int) -> int:
        if low == high:
            return low
        choice = min(max(next(self.given, low), low), high)
        self.choices.append(choice)
        return choice


class HypothesisChoose(Chooser):
    """Draws from Hypothesis, within a strategy.

    Args:
      draw: the function that ``hypothesis.strategies.composite`` gives.
      dtypes: those that may be drawn.

    >>> from hypothesis import given
    >>> from hypothesis import strategies as st
    >>> @given(st.data())
    ... def test(data):
    ...     assert HypothesisChoose(data.draw).integer(1, 3) in (1, 2, 3)
    >>> test()
    """

    def __init__(
        self, draw: Callable[[st.SearchStrategy[Any]], Any], dtypes: Sequence[np.dtype[Any]] = wide_dtypes
    ) -> None:
        super().__init__(dtypes)
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        if low == high:
            return low
        choice = int(self.draw(st.integers(low, high)))
        self.choices.append(choice)
        return choice

    def part(self, draw: Callable[[Chooser], T]) -> T:
        result: T = self.draw(_parts(draw, self.dtypes, self.choices))
        return result


@st.composite
def _parts(
    draw: st.DrawFn, function: Callable[[Chooser], Any], dtypes: tuple[np.dtype[Any], ...], choices: list[int]
) -> Any:
    choose = HypothesisChoose(draw, dtypes)
    choose.choices = choices
    return function(choose)
