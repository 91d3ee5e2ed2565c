"""Tasks of workers and their answers: plain data, which is sent between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lawful.laws import Failure

Verdict = Literal["passed", "failed", "inapplicable"]


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of a worker.

    Attributes:
      system: the system's name.
      backends: what `jit` of lawful compiles with; none for the system's own choice.
      effort: the effort's name.
      laws: the names of the laws to check.
      primitives: programs in which none of these occurs are left out; none for all.
      modules: what to import first.
      against: the name of the system that it is compared with, if it is.
      sampled: whether each case meets a sample of laws, variants and backends.
      named: whether the laws were named, so that all of them are tried on each case.
    """

    system: str
    backends: tuple[str, ...]
    effort: str
    laws: tuple[str, ...]
    primitives: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    against: str | None = None
    sampled: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Examine:
    """Draw a case and hold the system to the laws on it.

    Attributes:
      number: its index in the run.
      source: the name of its source.
      seed: what it is drawn with.
    """

    number: int
    source: str
    seed: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Try a saved failure again."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Shrink:
    """Shrink a failure, within a number of seconds."""

    failure: Failure
    seconds: float


Task = Examine | Retry | Shrink


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has imported everything."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The verdicts of the laws on a case.

    Attributes:
      kind: a program, a call of a primitive, or nothing: the seed gives no case, or one that is left out.
      primitives: what occurs in it.
      verdicts: what each law says.
      failures: the cases of verdict ``"failed"``, as they were found.
    """

    kind: Literal["program", "call", "nothing"]
    primitives: tuple[str, ...] = ()
    verdicts: tuple[tuple[str, Verdict], ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Retried:
    """The result of trying a saved failure again.

    Attributes:
      verdict: ``"failed"`` if it fails still, ``"passed"`` if not, ``"gone"`` if the case cannot be drawn any more,
        ``"unknown"`` if it cannot be tried here.
      failure: as it is now, or as it was.
      reason: why it cannot be tried.
    """

    verdict: Literal["failed", "passed", "gone", "unknown"]
    failure: Failure
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failure, shrunk."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Broken:
    """A worker could not start or do a task, for a reason other than a law."""

    reason: str


@dataclass(frozen=True, slots=True)
class Died:
    """A worker's process ended during a task, or was ended because the task took too long."""

    reason: str


Answer = Ready | Examined | Retried | Shrunk | Broken | Died
