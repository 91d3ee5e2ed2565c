"""Worker processes, each with one task at a time, so that a crash is attributed to its task."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Final, cast

from lawful.cli._suite._tasks import Answer, Broken, Died, Ready, Setup, Task
from lawful.cli._suite._worker import serve
from lawful.cli._usage import UsageError

_CONTEXT: Final = multiprocessing.get_context("spawn")


class Worker:
    """A process and its current task.

    Attributes:
      task: what it is doing; None if nothing.
      ready: whether it has started.
      since: when it began.
    """

    def __init__(self, setup: Setup) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=serve, args=(theirs, setup), daemon=True)
        with _interrupts_held():
            self.process.start()
        theirs.close()  # so that the end of the process closes the connection
        self.task: Task | None = None
        self.ready = False
        self.since = time.monotonic()

    def give(self, task: Task) -> None:
        """Sends a task. If the process is dead, `answer` reports it."""
        self.task, self.since = task, time.monotonic()
        with suppress(OSError):
            self.connection.send(task)

    def answer(self) -> Answer:
        """Returns the worker's answer; `Died` if the process ended."""
        try:
            return cast(Answer, self.connection.recv())
        except (EOFError, OSError):
            self.process.join(5)
            return Died(_how_it_ended(self.process.exitcode))

    def stop(self) -> None:
        """Ends the process, also during a task."""
        self.connection.close()
        self.process.terminate()
        self.process.join(1)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Pool:
    """Worker processes; a dead one is replaced.

    Args:
      setup: what each is told at its start.
      size: how many.
    """

    def __init__(self, setup: Setup, size: int) -> None:
        self.setup = setup
        self.workers = [Worker(setup) for _ in range(size)]

    def idle(self) -> list[Worker]:
        """Returns the workers that have started and have no task."""
        return [worker for worker in self.workers if worker.ready and worker.task is None]

    def busy(self) -> list[Worker]:
        """Returns the workers with a task."""
        return [worker for worker in self.workers if worker.task is not None]

    def answers(self, seconds: float) -> Iterator[tuple[Task, Answer]]:
        """Waits for answers and yields them, each with its task."""
        by_connection = {worker.connection: worker for worker in self.workers if worker.task or not worker.ready}
        for connection in wait(list(by_connection), seconds):
            worker = by_connection[cast("Connection", connection)]
            answer = worker.answer()
            if not worker.ready:
                self._started(worker, answer)
                continue
            task, worker.task = worker.task, None
            if isinstance(answer, Died):
                self._replace(worker)
            if task is not None:
                yield task, answer

    def overdue(self, seconds: float) -> Iterator[Task]:
        """Ends the workers whose task takes longer than this, and yields these tasks."""
        for worker in self.busy():
            if time.monotonic() - worker.since > seconds:
                task = worker.task
                self._replace(worker)
                if task is not None:
                    yield task

    def _started(self, worker: Worker, answer: Answer) -> None:
        match answer:
            case Ready():
                worker.ready = True
            case Broken(reason):
                raise UsageError(reason)
            case _:
                reason = answer.reason if isinstance(answer, Died) else "it answered before it was asked"
                raise UsageError(f"a worker process could not start: {reason}")

    def _replace(self, worker: Worker) -> None:
        worker.stop()
        self.workers[self.workers.index(worker)] = Worker(self.setup)

    def stop(self) -> None:
        """Ends all workers."""
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.stop()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Blocks Ctrl-C, which a terminal sends to all processes, in processes started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how_it_ended(exitcode: int | None) -> str:
    if exitcode is None:
        return "the process closed its connection"
    if exitcode >= 0:
        return f"the process ended with status {exitcode}"
    try:
        return f"the process was killed by {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"the process was killed by signal {-exitcode}"
