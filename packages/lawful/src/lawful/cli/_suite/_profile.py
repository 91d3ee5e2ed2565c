"""Profiles: the defaults of options that set how thoroughly the laws are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Profile:
    """The options of one profile.

    Attributes:
      effort: the name of the effort: how many variants of a law are tried on a case.
      budget: how many seconds to look; None if a number of cases is said.
      cases: how many cases to draw; None if a time is said.
      seed: that of the cases; None for a new one each time.
      every_backend: whether `jit` compiles with all installed backends, not with NumPy's only.
      sampled: whether each case meets a sample of the laws, of their variants and of the backends, not all of them.
    """

    effort: str
    budget: float | None = None
    cases: int | None = None
    seed: int | None = None
    every_backend: bool = False
    sampled: bool = False


profiles: Final = {
    "quick": Profile("quick", budget=60.0),
    "ci": Profile("usual", cases=3000, seed=0),
    "thorough": Profile("thorough", budget=3600.0, every_backend=True, sampled=True),
}
