"""``Member``: one process among several: its connection to the coordinator."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Final

from lawful.core import user_source
from lawful.parallel._processes.coordinator import Times
from lawful.parallel._processes.errors import (
    CLASSES,
    ProcessEndedError,
    ProcessError,
    ProcessMismatchError,
    ProcessTimeoutError,
)
from lawful.parallel._processes.messages import Header, closed, configure, receive, send

#: For how many seconds runs are collected before process 0 is told of them.
RUNS_DELAY: Final = 0.1


class _Waiting:
    """A call that waits for an answer."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.payloads: list[bytes] = []
        self.error: tuple[str, str] | None = None


class Member:
    """This process's connection to the coordinator.

    Args:
      host: the coordinator's address.
      port: its port.
      index: the number of this process.
      count: how many there are.
      times: time limits.

    Raises:
      ProcessTimeoutError: there is no coordinator, or not all processes came in time.
      ProcessError: the processes were started in contradictory ways.
    """

    def __init__(self, host: str, port: int, index: int, count: int, times: Times) -> None:
        self.index, self.count = index, count
        self._address, self._times = (host, port), times
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._counts: Counter[str] = Counter()
        self._has_left = False
        self._failed = threading.Event()
        #: Why this process cannot work with the others any more; None while it can.
        self.failure: str | None = None
        self._differs = False
        self._begun: SimpleQueue[tuple[str, str, tuple[int, ...]]] = SimpleQueue()
        #: For each process that waits for the end of the program: how many programs it ran together with each other.
        self.leaving: dict[int, dict[int, int]] = {}
        #: Called when another process has begun to wait for the end.
        self.on_leaving: Callable[[int], None] = lambda index: None
        self._connection = self._join()
        self._reader = threading.Thread(target=self._read, name="lawful processes", daemon=True)
        self._reader.start()
        threading.Thread(target=self._tell_runs, name="lawful runs", daemon=True).start()

    @property
    def host(self) -> str:
        """The address of this machine on the way to the coordinator."""
        return str(self._connection.getsockname()[0])

    def dial(self) -> socket.socket:
        """Returns a connection to jaxlib's service."""
        connection = socket.create_connection(self._address, timeout=self._times.join)
        connection.settimeout(None)
        configure(connection, self._times.heartbeat)
        send(connection, {"kind": "relay"})
        return connection

    def _join(self) -> socket.socket:
        host, port = self._address
        deadline = time.monotonic() + self._times.join
        while True:
            try:
                connection = socket.create_connection(self._address, timeout=max(1.0, deadline - time.monotonic()))
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise ProcessTimeoutError(
                        f"initialize: expected process 0 at {host}:{port} within {self._times.join} s, got the error "
                        f"{error}; start process 0 there, or correct coordinator_address"
                    ) from error
                time.sleep(0.05)
        connection.settimeout(max(1.0, deadline - time.monotonic()))
        try:
            send(connection, {"kind": "join", "index": self.index, "count": self.count})
            answer = receive(connection)
            if answer is not None and answer[0]["kind"] == "heard":
                # The coordinator knows when the time is over, and says which process did not come.
                connection.settimeout(self._times.join + 10)
                answer = receive(connection)
        except TimeoutError as error:
            raise ProcessTimeoutError(
                f"initialize: expected an answer of process 0 at {host}:{port}, got none within {self._times.join} s; "
                "correct coordinator_address"
            ) from error
        except OSError as error:
            raise ProcessError(
                f"initialize: expected process 0 at {host}:{port}, got {error}; correct coordinator_address"
            ) from error
        if answer is None or answer[0]["kind"] != "welcome":
            closed(connection)
            if answer is None:
                raise ProcessEndedError(
                    "initialize: expected all processes to join, got process 0 ended; look at its output"
                )
            raise CLASSES[answer[0]["class"]](f"initialize: {answer[0]['error']}")
        connection.settimeout(None)
        configure(connection, self._times.heartbeat)
        return connection

    def _read(self) -> None:
        """Receives what the coordinator says, until the connection ends."""
        reason = "its connection ended"
        try:
            while (message := receive(self._connection)) is not None:
                self._handle(*message)
        except OSError as error:
            reason = f"its connection broke ({error})"
        if not self._has_left:
            self.fail(f"process 0 ended: {reason}")

    def _handle(self, header: Header, payload: bytes) -> None:
        kind = header["kind"]
        if kind == "ended":
            self.fail(f"process {header['index']} ended: {header['reason']}")
        elif kind == "differs":
            self._differs = self.failure is None
            self.fail(header["reason"])
        elif kind == "leaving":
            self.leaving[header["index"]] = {int(index): count for index, count in header["programs"].items()}
            self.on_leaving(header["index"])
        elif kind in ("met", "failed") and (waiting := self._waiting.pop(header["key"], None)) is not None:
            if kind == "failed":
                waiting.error = header["class"], header["error"]
            else:
                start = 0
                for size in header["sizes"]:
                    waiting.payloads.append(payload[start : start + size])
                    start += size
            waiting.done.set()

    def fail(self, reason: str) -> None:
        """Ends the work with the other processes, for the first reason that there is: all that waits gets an error."""
        with self._lock:
            if self.failure is None:
                self.failure = reason
            waiting = [*self._waiting.values()]
            self._waiting.clear()
        self._failed.set()
        for call in waiting:
            call.done.set()

    def wait_for_failure(self, timeout: float) -> None:
        """Waits until it is known that another process has ended, for so many seconds at most."""
        self._failed.wait(timeout)

    def require_alive(self, what: str) -> None:
        """Raises ProcessEndedError where a process has ended, ProcessMismatchError where one runs another program."""
        if (differing := self.mismatch(what)) is not None:
            raise differing
        if self.failure is not None:
            raise ProcessEndedError(
                f"{what}: expected {self.count} processes, got {self.failure}; look at the output of that process, and "
                "start all anew"
            )

    def mismatch(self, what: str) -> ProcessMismatchError | None:
        """Returns the error to raise where another process runs another program; else None."""
        if not self._differs:
            return None
        return ProcessMismatchError(
            f"{what}: expected all processes to run the same programs, got {self.failure}; let all do the same, in one "
            "order, and start all anew"
        )

    def announce_run(self, what: str, fingerprint: str, everyone: Sequence[int]) -> None:
        """Lets process 0 know soon that this process begins to run a program together with others."""
        self._begun.put((what, fingerprint, tuple(everyone)))

    def _tell_runs(self) -> None:
        """Tells process 0 of runs, many at a time: a message for each would take longer than a small program."""
        while True:
            runs = [self._begun.get()]
            time.sleep(RUNS_DELAY)
            while not self._begun.empty():
                runs.append(self._begun.get())
            self._send({"kind": "runs", "runs": runs})

    def meet(
        self, what: str, payload: bytes = b"", *, timeout: float, key: str | None = None, everyone: Sequence[int] = ()
    ) -> list[bytes]:
        """Waits for other processes to call this with the same key, as often; returns what all gave, in their order.

        Args:
          what: the name of the function that waits, for errors.
          payload: what this process gives.
          timeout: how long to wait, in seconds, from when the first process came.
          key: what is the same in all; by default ``what``.
          everyone: the numbers of the processes, in order; by default all.

        Raises:
          ProcessEndedError: another process has ended.
          ProcessTimeoutError: one did not come in time.
          ProcessMismatchError: all wait, for different keys.
        """
        key = key or what
        source = user_source()
        waiting = _Waiting()
        with self._lock:
            self._counts[key] += 1
            key = f"{key}#{self._counts[key]}"
            if self.failure is None:
                self._waiting[key] = waiting
        self.require_alive(what)
        self._send(
            {
                "kind": "meet",
                "key": key,
                "what": what,
                "where": "" if source is None else f" ({source})",
                "timeout": timeout,
                "everyone": list(everyone or range(self.count)),
            },
            payload,
        )
        # The coordinator says who did not come; should it be stuck itself, this says so.
        if not waiting.done.wait(timeout + 30):
            raise ProcessTimeoutError(
                f"{what}: expected an answer of process 0 within {timeout + 30:g} s, got none; look at its output"
            )
        if waiting.error is not None:
            name, text = waiting.error
            raise CLASSES[name](text)
        if not waiting.payloads:
            self.require_alive(what)
        return waiting.payloads

    def announce_leaving(self, programs: dict[int, int]) -> None:
        """Tells the others that this process will run no more programs, and how many it ran with each of them."""
        self._send({"kind": "left", "index": self.index, "programs": programs})

    def leave(self, error: str = "") -> None:
        """Ends the connection, once the others are told; with an error they know that this process has failed."""
        self._has_left = True
        self._send({"kind": "bye", "error": error})
        if self.index == 0:
            self._reader.join(2)  # the coordinator is a thread of this process
        closed(self._connection)

    def report(self, index: int, reason: str) -> None:
        """Tells all that a process will not do what another one waits for."""
        self._send({"kind": "stuck", "index": index, "reason": reason})

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        try:
            with self._lock:
                send(self._connection, header, payload)
        except OSError as error:
            if not self._has_left:
                self.fail(f"process 0 ended: its connection broke ({error})")
