"""A worker: the process that draws cases, checks laws on them, and shrinks failures."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Literal

from lawful.cli._imports import import_all
from lawful.cli._suite._sources import chosen_laws
from lawful.cli._suite._tasks import (
    Answer,
    Broken,
    Examine,
    Examined,
    Ready,
    Retried,
    Retry,
    Setup,
    Shrink,
    Shrunk,
    Task,
    Verdict,
)
from lawful.cli._usage import UsageError
from lawful.core import no_collections
from lawful.laws import (
    Effort,
    Failure,
    Implementation,
    Inapplicable,
    Law,
    PrimitiveCall,
    agreement_law,
    draw_case,
    efforts,
    examine,
    examine_again,
    failure_of,
    find_source,
    installed_backends,
    primitives_of,
    program_text,
    sampled_backend,
    sampled_effort,
    shrink,
)

#: Takes the place of a law in failures of the process itself: it died, or did not end.
PROCESS = "process"


def serve(connection: Connection, setup: Setup) -> None:
    """The main function of a worker process: does the tasks received from a connection until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    os.dup2(2, 1)  # text printed by rules must not mix with the document on standard output
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="lawful-laws-") as folder:
        _keep_hypothesis_in(folder)
        try:
            work = Work(setup)
        except Exception as error:
            connection.send(Broken(_text(error)))
            return
        # Imported objects live until the end; laws about leaks collect garbage often and need not scan them.
        gc.collect()
        gc.freeze()
        connection.send(Ready())
        while (task := _next(connection)) is not None:
            try:
                answer = work.do(task)
            except Exception as error:  # an error of the command, not of a law
                answer = Broken(_text(error))
            try:
                connection.send(answer)
            except OSError:  # the parent has ended
                return


def _next(connection: Connection) -> Task | None:
    try:
        task: Task = connection.recv()
    except (EOFError, OSError):
        return None
    return task


def _keep_hypothesis_in(folder: str) -> None:
    """Keeps Hypothesis from writing into the working directory."""
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(folder)


def _text(error: BaseException) -> str:
    return str(error) if isinstance(error, UsageError) else "".join(traceback.format_exception(error)).strip()


def system_of(setup: Setup) -> Implementation:
    """Returns the system that a worker tests.

    Raises:
      UsageError: there is none of this name, or it is not installed.
    """
    from lawful.laws.systems import Lawful, find_system

    if setup.system == "lawful" and setup.backends:
        # Where backends are sampled, each case has the system with one of them.
        return Lawful(setup.backends[0], setup.backends[:1] if setup.sampled else setup.backends)
    try:
        return find_system(setup.system)
    except (ValueError, ImportError) as error:
        raise UsageError(f"--system {setup.system}: {error}") from None


def other_system(name: str) -> Implementation:
    """Returns the system to compare with, and adds the law that both agree.

    Raises:
      UsageError: there is none of this name, or it is not installed.
    """
    from lawful.laws.systems import find_system

    try:
        other = find_system(name)
    except (ValueError, ImportError) as error:
        raise UsageError(f"--against {name}: {error}") from None
    agreement_law(other)
    return other


class Work:
    """The state of a worker.

    Args:
      setup: what it is told at its start.
    """

    def __init__(self, setup: Setup) -> None:
        import_all(setup.modules)
        if setup.against is not None:
            other_system(setup.against)
        self.setup = setup
        self.system = system_of(setup)
        self.effort = efforts[setup.effort]
        self.laws = set(chosen_laws(setup.laws))
        self.primitives = set(setup.primitives)
        self._systems: dict[str, Implementation] = {}
        self._applicable: dict[str, list[Law]] = {}

    def do(self, task: Task) -> Answer:
        """Does a task."""
        match task:
            case Examine(_, source, seed):
                return self.examine(source, seed)
            case Retry(failure):
                return self.retry(failure)
            case Shrink(failure, seconds):
                return self.shrink(failure, seconds)

    def examine(self, source: str, seed: int) -> Examined:
        """Draws a case and checks the laws on it."""
        found = find_source(source)
        try:
            drawn = draw_case(found, seed)
        except Inapplicable:
            return Examined("nothing")
        primitives = primitives_of(drawn.case)
        if self.primitives and not self.primitives.intersection(primitives):
            return Examined("nothing")
        backend, system = self._compiling(source, seed)
        verdicts: list[tuple[str, Verdict]] = []
        failures: list[Failure] = []
        with no_collections():  # as in `examine_all`
            for law, effort in self._efforts(source, seed, backend):
                outcome = examine(law, system, drawn, effort)
                verdicts.append((law.name, outcome.verdict))
                if outcome.verdict == "failed":
                    failures.append(failure_of(system, outcome, effort, backend=backend))
        kind: Literal["call", "program"] = "call" if isinstance(drawn.case, PrimitiveCall) else "program"
        return Examined(kind, primitives, tuple(verdicts), tuple(failures))

    def _compiling(self, source: str, seed: int) -> tuple[str, Implementation]:
        """Returns the backend for a case, empty for the system's own, and the system with this backend."""
        if not (self.setup.sampled and self.setup.backends):
            return "", self.system
        backend = sampled_backend(self.setup.backends, source, seed)
        return backend, self._system_with(backend)

    def _system_with(self, backend: str) -> Implementation:
        """Returns the system with one backend; unchanged if ``backend`` is empty.

        Raises:
          KeyError: the backend is not installed.
        """
        if not backend:
            return self.system
        if backend not in installed_backends():
            raise KeyError(f"backend {backend}")
        if backend not in self._systems:
            from lawful.laws.systems import Lawful

            self._systems[backend] = Lawful(backend, (backend,))
        return self._systems[backend]

    def _efforts(self, source: str, seed: int, backend: str) -> Iterator[tuple[Law, Effort]]:
        """Yields the laws of a case, each with its effort."""
        for law in self.laws_of(source):
            if not self.setup.sampled:
                yield law, self.effort
            else:
                share = 1.0 if self.setup.named else None
                effort = sampled_effort(law, source, seed, share=share, backend=backend)
                if effort is not None:
                    yield law, effort

    def laws_of(self, source: str) -> list[Law]:
        """Returns the chosen laws that apply to a source."""
        if source not in self._applicable:
            self._applicable[source] = [law for law in find_source(source).laws() if law in self.laws]
        return self._applicable[source]

    def retry(self, failure: Failure) -> Retried:
        """Tries a saved failure again."""
        if failure.law == PROCESS:
            assert failure.seed is not None
            self.examine(failure.source, failure.seed)
            return Retried("passed", failure)
        try:
            system = self._system_with(failure.backend)
            outcome = examine_again(system, failure)
        except KeyError as error:
            return Retried("unknown", failure, f"there is no {error.args[0]} now")
        except Inapplicable:
            return Retried("passed", failure)
        if outcome.verdict != "failed":
            if program_text(self.system, outcome.drawn.case) == failure.program:
                return Retried("passed", failure)
            return Retried("gone", failure, "its choices give another case since the generator has changed; forgotten")
        now = failure_of(system, outcome, self._effort_of(failure), small=failure.small, backend=failure.backend)
        return Retried("failed", now)

    def shrink(self, failure: Failure, seconds: float) -> Shrunk:
        """Shrinks a failure."""
        system, effort = self._system_with(failure.backend), self._effort_of(failure)
        outcome = examine_again(system, failure)
        if outcome.verdict != "failed":  # it depends on more than the case
            return Shrunk(failure)
        smaller = shrink(system, outcome, effort, seconds)
        return Shrunk(failure_of(system, smaller, effort, small=True, backend=failure.backend))

    def _effort_of(self, failure: Failure) -> Effort:
        """Returns the effort with which a failure was found."""
        return efforts.get(failure.effort, self.effort)
