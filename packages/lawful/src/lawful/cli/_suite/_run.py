"""A run: sends tasks to the workers, counts their answers, and stops in time."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Final

from lawful.cli._suite._pool import Pool
from lawful.cli._suite._results import Counterexample, Results
from lawful.cli._suite._tasks import Answer, Broken, Died, Examine, Examined, Retried, Retry, Shrink, Shrunk, Task
from lawful.cli._suite._worker import PROCESS
from lawful.laws import Failure, FailureDatabase, versions

#: The time limit of shrinking one failure, and of shrinking all after the search has ended.
SHRINK_SECONDS: Final = 30.0
SHRINK_SECONDS_AFTERWARDS: Final = 60.0
#: A case that takes longer counts as one that does not end.
CASE_SECONDS: Final = 600.0


class Run:
    """A run of the laws.

    Args:
      results: what is to be done; it is filled.
      cases: the cases to draw, in order.
      database: the failures to try first; None to save none.
      watch: called several times a second, to show the progress.
    """

    def __init__(
        self, results: Results, cases: Iterator[Examine], database: FailureDatabase | None,
        watch: Callable[[Results], None] = lambda results: None,
    ) -> None:  # fmt: skip
        self.results, self.cases, self.database, self.watch = results, cases, database, watch
        self.retries: deque[Failure] = deque()
        self.to_shrink: deque[Counterexample] = deque()
        self.shrinking: dict[str, Counterexample] = {}
        self.given = 0
        # Failures in the order of their cases, so that the first of each key does not depend on the workers' timing.
        self.early: dict[int, tuple[Failure, ...]] = {}
        self.next_number = 0
        self.began = time.monotonic()

    def __call__(self) -> Results:
        """Runs until the time or the cases are over, or Ctrl-C; returns the results."""
        self._load_saved_failures()
        with _interruptions(self.results):
            pool = Pool(self.results.setup, self.results.jobs)
            self.began = time.monotonic()
            try:
                self._work(pool)
            finally:
                pool.stop()
        self._finish()
        return self.results

    # The loop

    def _work(self, pool: Pool) -> None:
        results = self.results
        while not results.interrupted and not self._out_of_time():
            for worker in pool.idle():
                task = self._next_task()
                if task is None:
                    break
                worker.give(task)
            if not pool.busy() and all(worker.ready for worker in pool.workers):
                break
            for task, answer in pool.answers(0.1):
                self._handle(task, answer)
            for task in pool.overdue(CASE_SECONDS):
                self._handle(task, Died(f"the case did not end within {CASE_SECONDS:g} seconds"))
            self._show_progress()
        self._show_progress(last=True)

    def _show_progress(self, *, last: bool = False) -> None:
        results, elapsed = self.results, time.monotonic() - self.began
        if last or not results.samples or elapsed - results.samples[-1].seconds >= 0.5:
            results.sample(elapsed)
        results.seconds = elapsed
        self.watch(results)

    def _over(self) -> bool:
        """Whether no more cases are drawn."""
        results = self.results
        if results.cases is not None:
            return self.given >= results.cases
        return results.budget is not None and time.monotonic() - self.began >= results.budget

    def _out_of_time(self) -> bool:
        """Whether failures that are not shrunk yet stay as found."""
        budget = self.results.budget
        return budget is not None and time.monotonic() - self.began >= budget + SHRINK_SECONDS_AFTERWARDS

    def _next_task(self) -> Task | None:
        if self.retries:
            return Retry(self.retries.popleft())
        if self.to_shrink:
            found = self.to_shrink.popleft()
            found.state = "shrinking"
            self.shrinking[found.failure.identity] = found
            return Shrink(found.failure, SHRINK_SECONDS)
        task = None if self._over() else next(self.cases, None)
        self.given += task is not None
        return task

    # Answers

    def _handle(self, task: Task, answer: Answer) -> None:
        match task, answer:
            case Examine(number=number), Examined():
                self.results.count(answer)
                self._in_order(number, answer.failures)
            case Examine(number=number), Died(reason):
                self._in_order(number, (self._death(task, reason),))
            case Examine(number=number), Broken(reason):
                self.results.problems.append(f"{task.source}, seed {task.seed}: {reason}")
                self._in_order(number, ())
            case Retry(failure), _:
                self._retried(failure, answer)
            case Shrink(failure), _:
                found = self.shrinking.pop(failure.identity)
                found.state = "as found"
                if isinstance(answer, Shrunk):
                    self._shrunk(found, answer.failure)

    def _in_order(self, number: int, failures: tuple[Failure, ...]) -> None:
        self.early[number] = failures
        while self.next_number in self.early:
            for failure in self.early.pop(self.next_number):
                self._failed(failure)
            self.next_number += 1

    def _failed(self, failure: Failure, *, known: bool = False) -> None:
        found = self.results.fail(failure, known=known)
        if found is None:
            return
        if self.database is not None:  # at once, so that a run that is killed has saved it too
            self.database.save(failure)
        if failure.small or failure.law == PROCESS:
            found.state = "small" if failure.small else "as found"
        else:
            self.to_shrink.append(found)

    def _shrunk(self, found: Counterexample, failure: Failure) -> None:
        if self.database is not None and failure.identity != found.failure.identity:
            self.database.save(failure)
            self.database.remove(found.failure)
        if failure.small:
            found.state = "small"
        found.failure = failure

    def _retried(self, failure: Failure, answer: Answer) -> None:
        match answer:
            case Retried("passed"):
                self.results.fixed.append(failure)
                if self.database is not None:
                    self.database.remove(failure)
            case Retried("failed", now):
                self._failed(now, known=True)
            case Retried("gone", _, reason):
                self.results.untried.append((failure, reason))
                if self.database is not None:
                    self.database.remove(failure)
            case Retried("unknown", _, reason) | Broken(reason):
                self.results.untried.append((failure, reason))
            case Died(reason):
                self._failed(replace(failure, explanation=reason), known=True)

    def _death(self, task: Examine, reason: str) -> Failure:
        return Failure(
            system=self.results.setup.system, law=PROCESS, source=task.source, effort=self.results.setup.effort,
            choices=None, seed=task.seed, error="Died", explanation=reason, versions=versions(),
        )  # fmt: skip

    # Before and after

    def _load_saved_failures(self) -> None:
        """Queues the saved failures of this system, these laws and primitives."""
        if self.database is None:
            return
        setup = self.results.setup
        wanted = set(setup.primitives)
        for failure in self.database:
            other_law = failure.law not in setup.laws and failure.law != PROCESS
            if failure.system != setup.system or other_law or (wanted and not wanted & set(failure.primitives)):
                continue
            self.retries.append(failure)
        for path, reason in self.database.unreadable.items():
            self.results.unreadable.append(f"{path}: {reason}")

    def _finish(self) -> None:
        """Counts answers that came out of order, and marks failures that were not shrunk."""
        for number in sorted(self.early):
            for failure in self.early[number]:
                self._failed(failure)
        for found in self.results.counterexamples.values():
            if found.state in ("waiting", "shrinking"):
                found.state = "as found"


@contextmanager
def _interruptions(results: Results) -> Iterator[None]:
    """Lets Ctrl-C end the run between tasks; a second Ctrl-C ends the process."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        results.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
