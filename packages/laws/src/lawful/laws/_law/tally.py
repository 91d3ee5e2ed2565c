"""What laws have said in this process: for each, how often it held, failed, and had nothing to say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["passed", "failed", "inapplicable"]


@dataclass(slots=True)
class Count:
    """How often a law was asked, by what it said."""

    passed: int = 0
    failed: int = 0
    inapplicable: int = 0


class Tally:
    """A count for each law, which every call of a law adds to."""

    def __init__(self) -> None:
        self._counts: dict[str, Count] = {}
        self._is_paused = False

    def add(self, law: str, verdict: Verdict) -> None:
        """Counts what a law has said of a case."""
        if not self._is_paused:
            count = self._counts.setdefault(law, Count())
            setattr(count, verdict, getattr(count, verdict) + 1)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Counts nothing inside: of a search for a smaller counterexample the many cases tell nothing."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Returns the counts as plain data."""
        return {law: asdict(count) for law, count in self._counts.items()}


#: What was counted in this process.
tally = Tally()
