"""The findings of a run, as counts and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from lawful.cli._suite._tasks import Examined, Setup, Verdict
from lawful.laws import Failure, laws, versions

#: Failures with an equal key are one finding, of which only the first is shrunk: law, source, class of error.
FailureKey = tuple[str, str, str]


@dataclass(slots=True)
class Count:
    """How often a law held, failed, or did not apply."""

    passed: int = 0
    failed: int = 0
    inapplicable: int = 0

    def add(self, verdict: Verdict) -> None:
        """Counts one more."""
        setattr(self, verdict, getattr(self, verdict) + 1)


@dataclass(slots=True)
class Usage:
    """In how many cases a primitive occurred, and the verdicts of the laws on them."""

    calls: int = 0
    programs: int = 0
    laws: dict[str, Count] = field(default_factory=dict)


@dataclass(slots=True)
class Counterexample:
    """The first failure of its kind.

    Attributes:
      failure: as small as it was made.
      times: how many failures had its key.
      known: whether it was saved in an earlier run.
      state: what is being done about it.
    """

    failure: Failure
    times: int = 1
    known: bool = False
    state: Literal["waiting", "shrinking", "small", "as found"] = "waiting"


@dataclass(slots=True)
class Sample:
    """The number of cases done after some seconds."""

    seconds: float
    programs: int
    calls: int


@dataclass(slots=True)
class Results:
    """A run and its findings.

    Attributes:
      setup: what the workers were told.
      profile: the profile's name.
      seed: that of the cases.
      jobs: how many workers.
      budget: how long to look, in seconds.
      cases: how many cases to draw.
      seconds: how long it took.
      interrupted: whether it was ended by Ctrl-C.
      programs: how many programs were done.
      calls: how many calls of primitives.
      nothing: how many seeds gave no case, or one that was left out.
      laws: what each law said.
      primitives: what was said of cases with each primitive.
      counterexamples: the first failure with each key.
      fixed: saved failures that pass.
      untried: saved failures that could not be tried, each with the reason.
      unreadable: files of the database that are no failures.
      problems: what went wrong with the run itself.
      samples: the progress.
    """

    setup: Setup
    profile: str
    seed: int
    jobs: int
    budget: float | None = None
    cases: int | None = None
    seconds: float = 0.0
    interrupted: bool = False
    programs: int = 0
    calls: int = 0
    nothing: int = 0
    laws: dict[str, Count] = field(default_factory=dict)
    primitives: dict[str, Usage] = field(default_factory=dict)
    counterexamples: dict[FailureKey, Counterexample] = field(default_factory=dict)
    fixed: list[Failure] = field(default_factory=list)
    untried: list[tuple[Failure, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def count(self, examined: Examined) -> None:
        """Counts a case. `fail` counts its failures."""
        if examined.kind == "nothing":
            self.nothing += 1
            return
        if examined.kind == "program":
            self.programs += 1
        else:
            self.calls += 1
        usages = [self.primitives.setdefault(name, Usage()) for name in examined.primitives]
        for usage in usages:
            usage.programs += examined.kind == "program"
            usage.calls += examined.kind == "call"
        for law, verdict in examined.verdicts:
            self.laws.setdefault(law, Count()).add(verdict)
            for usage in usages:
                usage.laws.setdefault(law, Count()).add(verdict)

    def fail(self, failure: Failure, *, known: bool = False) -> Counterexample | None:
        """Counts a failure; returns it if it is the first with its key."""
        key = (failure.law, failure.source, failure.error)
        found = self.counterexamples.get(key)
        if found is not None:
            found.times += not known
            return None
        new = self.counterexamples[key] = Counterexample(failure, 0 if known else 1, known)
        return new

    def sample(self, seconds: float) -> None:
        """Records the progress."""
        self.seconds = seconds
        self.samples.append(Sample(seconds, self.programs, self.calls))

    def failed_laws(self) -> set[str]:
        """Returns the names of the laws that fail."""
        return {key[0] for key in self.counterexamples}

    def held_laws(self) -> set[str]:
        """Returns the names of the laws that have held, and never failed."""
        return {name for name, count in self.laws.items() if count.passed} - self.failed_laws()

    def checks(self, verdict: Verdict) -> int:
        """Returns how often the laws gave this verdict."""
        return sum(getattr(count, verdict) for count in self.laws.values())

    def distinct(self) -> Iterator[Counterexample]:
        """Yields the counterexamples, the smallest of each law first; the same program only once for a law."""
        seen: dict[tuple[str, str], Counterexample] = {}
        order = {name: index for index, name in enumerate(laws)}

        def sort_key(found: Counterexample) -> tuple[int, int, str]:
            failure = found.failure
            return order.get(failure.law, -1), failure.equations, failure.program

        for found in sorted(self.counterexamples.values(), key=sort_key):
            key = (found.failure.law, found.failure.program or found.failure.identity)
            if key not in seen:
                seen[key] = found
                yield found

    def rate(self) -> float:
        """Returns how many programs were done a second."""
        return self.programs / self.seconds if self.seconds else 0.0


def document(results: Results) -> dict[str, Any]:
    """Returns a run as JSON has it: what `--json` prints."""
    setup = results.setup

    def told(name: str) -> dict[str, Any]:
        return {"group": laws[name].group, "equation": laws[name].equation, **asdict(results.laws.get(name, Count()))}

    return {
        "system": setup.system,
        "profile": results.profile,
        "effort": setup.effort,
        "seed": results.seed,
        "jobs": results.jobs,
        "budget": results.budget,
        "cases": results.cases,
        "seconds": round(results.seconds, 3),
        "interrupted": results.interrupted,
        "holds": not results.counterexamples and not results.problems,
        "drawn": {"programs": results.programs, "calls": results.calls, "nothing": results.nothing},
        "programs_per_second": round(results.rate(), 2),
        "laws": {name: told(name) for name in setup.laws},
        "primitives": {
            name: {
                "calls": usage.calls,
                "programs": usage.programs,
                "laws": {law: asdict(count) for law, count in usage.laws.items()},
            }
            for name, usage in sorted(results.primitives.items())
        },
        "counterexamples": [
            {**asdict(c.failure), "times": c.times, "known": c.known, "state": c.state} for c in results.distinct()
        ],
        "fixed": [asdict(failure) for failure in results.fixed],
        "untried": [{**asdict(failure), "reason": reason} for failure, reason in results.untried],
        "unreadable": results.unreadable,
        "problems": results.problems,
        "versions": versions(),
    }  # fmt: skip
