"""The verdicts of laws in this process: how often each held, failed, or was inapplicable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["passed", "failed", "inapplicable"]


@dataclass(slots=True)
class Count:
    """How often a law was checked, by verdict."""

    passed: int = 0
    failed: int = 0
    inapplicable: int = 0


class Tally:
    """A count for each law, updated by every call of a law."""

    def __init__(self) -> None:
        self._counts: dict[str, Count] = {}
        self._is_paused = False

    def add(self, law: str, verdict: Verdict) -> None:
        """Counts the verdict of a law on a case."""
        if not self._is_paused:
            count = self._counts.setdefault(law, Count())
            setattr(count, verdict, getattr(count, verdict) + 1)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Counts nothing inside: the many cases of shrinking are no evidence."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Returns the counts as plain data."""
        return {law: asdict(count) for law, count in self._counts.items()}


#: The counts of this process.
tally = Tally()
