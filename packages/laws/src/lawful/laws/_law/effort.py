"""Efforts: how many variants of a law are tried on one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from lawful.core import ArgumentTypeError, shorten

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Effort:
    """How many variants a law tries on one case; other cases try the others.

    Attributes:
      name: what it is called.
      most: how many of the variants of each kind.

    >>> len(Effort("mine", 2).some(np.random.default_rng(0), ["a", "b", "c"]))
    2
    """

    name: str
    most: int

    def some(self, random: np.random.Generator, variants: Sequence[T]) -> list[T]:
        """Returns a random choice of the variants; all of them if there are few, in random order."""
        if self.most >= len(variants):
            return list(variants)
        return [variants[i] for i in random.permutation(len(variants))[: self.most]]


#: One variant of each group, for many cases.
quick: Final = Effort("quick", 1)
#: The effort of tests.
usual: Final = Effort("usual", 8)
#: All variants.
thorough: Final = Effort("thorough", 64)

_chosen: list[Effort] = []


def default_effort(otherwise: Effort = usual) -> Effort:
    """Returns the effort that was chosen for the whole process, or else the given one.

    >>> set_default_effort(None)
    >>> default_effort().name, default_effort(quick).name
    ('usual', 'quick')
    """
    return _chosen[0] if _chosen else otherwise


def set_default_effort(effort: Effort | None) -> None:
    """Chooses the effort where none is given, as ``pytest --laws=thorough`` does; None undoes it.

    Raises:
      ArgumentTypeError: it is neither an Effort nor None.

    >>> set_default_effort(thorough)
    >>> default_effort().name
    'thorough'
    >>> set_default_effort(None)
    """
    if not isinstance(effort, Effort | None):
        raise ArgumentTypeError(
            f"set_default_effort: expected an Effort or None, got {shorten(effort)}; give quick, usual or thorough of "
            "lawful.laws"
        )
    _chosen[:] = [] if effort is None else [effort]
