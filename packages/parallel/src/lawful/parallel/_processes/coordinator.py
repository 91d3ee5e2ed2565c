"""``Coordinator``: what process 0 does for all processes: it lets them join, meet, and know who has ended."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from lawful.core import record
from lawful.parallel._processes import relay
from lawful.parallel._processes.errors import ProcessError
from lawful.parallel._processes.messages import Header, closed, configure, receive, send

#: For how many seconds all processes wait for each other in different places before that is an error.
MISMATCH_DELAY: Final = 3.0


@record
class Times:
    """Time limits in seconds.

    Attributes:
      join: how long the first process waits for the last one.
      heartbeat: after which a machine that does not answer counts as gone.
    """

    join: int
    heartbeat: int


@record
class _Refusal:
    """Why the processes cannot work together, and the name of the error's class."""

    problem: str
    error: str = "ProcessError"

    def message(self) -> Header:
        return {"kind": "refused", "class": self.error, "error": self.problem}


class _Meeting:
    """Processes that wait for each other."""

    def __init__(self, what: str, everyone: list[int], deadline: float, timeout: float) -> None:
        self.what = what
        self.everyone = everyone
        self.deadline = deadline
        self.timeout = timeout
        self.there: dict[int, tuple[str, bytes]] = {}


class _Runs:
    """The programs that some processes run together: those that not all have begun yet, in order."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()
        #: By number: the fingerprint and name of the program, the process that began it first, and how many have.
        self.open: dict[int, tuple[str, str, int, int]] = {}

    def add(self, index: int, what: str, fingerprint: str, count: int) -> str | None:
        """Notes that one of ``count`` processes begins a program; returns what differs if another one did not there."""
        number = self.begun[index]
        self.begun[index] += 1
        known, name, first, already = self.open.get(number, (fingerprint, what, index, 0))
        if known != fingerprint:
            return f"process {first} in {name} where process {index} is in {what}"
        self.open[number] = known, name, first, already + 1
        if already + 1 == count:
            del self.open[number]
        return None


class Coordinator:
    """The server of process 0, on the address that all processes know.

    Args:
      host: the address to listen at.
      port: the port.
      count: the number of processes.
      times: time limits.
      serve: starts jaxlib's service at an address of a socket of the file system.

    Raises:
      ProcessError: the port is in use, or the address is not of this machine.
    """

    def __init__(self, host: str, port: int, count: int, times: Times, serve: Callable[[str], Any]) -> None:
        self._count, self._times = count, times
        self._lock = threading.Lock()
        self._members: dict[int, socket.socket] = {}
        self._left: dict[int, str] = {}
        self._meetings: dict[str, _Meeting] = {}
        self._runs: dict[tuple[int, ...], _Runs] = {}
        self._refusal: _Refusal | None = None
        self._changed, self._is_open = time.monotonic(), True
        self._all_left = threading.Event()
        self._listener = _listen(host, port)
        self._path = relay.unix_path()
        self._service = serve(f"unix:{self._path}")
        self.address = f"unix:{self._path}"
        self._join_deadline: float | None = time.monotonic() + times.join
        for task in (self._accept, self._watch_times):
            threading.Thread(target=task, name="lawful coordinator", daemon=True).start()

    # Connections

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), name="lawful coordinator", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answers one process until its connection ends."""
        index: int | None = None
        reason = "its connection ended, without shutdown"
        try:
            configure(connection, self._times.heartbeat)
            first = receive(connection)
            if first is None:
                return
            if first[0].get("kind") == "relay":
                inner = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                inner.connect(str(self._path))
                relay.join(connection, inner)
                return
            send(connection, {"kind": "heard"})
            index = self._joined(connection, first[0])
            while index is not None and (message := receive(connection)) is not None:
                header, payload = message
                if header["kind"] == "meet":
                    self._arrived(index, header, payload)
                elif header["kind"] == "left":
                    self._tell({**header, "kind": "leaving"}, but=index)
                elif header["kind"] == "runs":
                    self._began(index, header["runs"])
                elif header["kind"] == "stuck":
                    self._tell({"kind": "ended", "index": header["index"], "reason": header["reason"]})
                else:
                    reason = header["error"]
                    break
        except OSError as error:
            reason = f"its connection broke ({error})"
        if index is not None:
            self._ended(index, reason)
        closed(connection)

    def _joined(self, connection: socket.socket, header: Header) -> int | None:
        """Takes a process in, and welcomes all when the last one is there; returns its number, None if refused."""
        index, count = int(header["index"]), int(header["count"])
        with self._lock:
            complete = len(self._members) + len(self._left) == self._count
            if count != self._count:
                refusal = _Refusal(
                    f"expected the same num_processes in all, got {self._count} in process 0 and {count} in process "
                    f"{index}; give all the same"
                )
            elif index in self._members or index in self._left:
                refusal = _Refusal(
                    f"expected each process_id once, got {index} twice; number the processes from 0 to {count - 1}"
                )
            elif self._refusal is not None:
                refusal = self._refusal
            else:
                self._members[index] = connection
                if len(self._members) == self._count:
                    self._join_deadline = None
                    self._send_all({"kind": "welcome"})
                return index
            # A stray process does not harm those that work already.
            if not complete:
                self._refuse(refusal)
        _send(connection, refusal.message())
        return None

    def _refuse(self, refusal: _Refusal) -> None:
        self._refusal, self._join_deadline = refusal, None
        self._send_all(refusal.message())

    def _ended(self, index: int, reason: str) -> None:
        with self._lock:
            del self._members[index]
            self._left[index] = reason
            for key, meeting in list(self._meetings.items()):
                if index in meeting.everyone:
                    self._fail_without(key, index)
            if reason:
                self._send_all({"kind": "ended", "index": index, "reason": reason})
                if self._join_deadline is not None:
                    self._refuse(
                        _Refusal(f"expected {self._count} processes to join, got process {index} ended: {reason}")
                    )
            if not self._members:
                self._all_left.set()

    def _send_all(self, header: Header, but: int | None = None) -> None:
        for index in sorted(self._members, reverse=True):
            if index != but:
                _send(self._members[index], header)

    def _tell(self, header: Header, but: int | None = None) -> None:
        with self._lock:
            self._send_all(header, but)

    def _began(self, index: int, runs: list[Any]) -> None:
        with self._lock:
            for what, fingerprint, everyone in runs:
                among = self._runs.setdefault(tuple(everyone), _Runs())
                if (differs := among.add(index, what, fingerprint, len(everyone))) is not None:
                    self._send_all({"kind": "differs", "reason": differs})
                    return

    # Meetings

    def _arrived(self, index: int, header: Header, payload: bytes) -> None:
        key = header["key"]
        with self._lock:
            self._changed = time.monotonic()
            meeting = self._meetings.get(key)
            if meeting is None:
                deadline = self._changed + header["timeout"]
                meeting = _Meeting(header["what"], header["everyone"], deadline, header["timeout"])
                self._meetings[key] = meeting
            meeting.there[index] = header["where"], payload
            if len(meeting.there) == len(meeting.everyone):
                del self._meetings[key]
                payloads = [meeting.there[number][1] for number in meeting.everyone]
                sizes = [len(part) for part in payloads]
                for number in sorted(meeting.everyone, reverse=True):  # this process, which may end then, comes last
                    self._send_to(number, {"kind": "met", "key": key, "sizes": sizes}, b"".join(payloads))
            elif gone := [number for number in meeting.everyone if number in self._left]:
                self._fail_without(key, gone[0])

    def _send_to(self, index: int, header: Header, payload: bytes = b"") -> None:
        if index in self._members:
            _send(self._members[index], header, payload)

    def _fail_without(self, key: str, index: int) -> None:
        reason = self._left[index] or "it shut down"
        self._fail(key, "ProcessEndedError", f"got process {index} ended: {reason}; start all anew")

    def _fail(self, key: str, error: str, got: str) -> None:
        meeting = self._meetings.pop(key)
        text = f"{meeting.what}: expected {_names(meeting.everyone)} to come here, {got}"
        for index in meeting.there:
            self._send_to(index, {"kind": "failed", "key": key, "class": error, "error": text})

    def _watch_times(self) -> None:
        """Ends what takes too long."""
        while self._is_open:
            time.sleep(0.1)
            now = time.monotonic()
            with self._lock:
                if self._join_deadline is not None and now > self._join_deadline:
                    missing = [index for index in range(self._count) if index not in self._members]
                    self._refuse(
                        _Refusal(
                            f"expected {self._count} processes to join within {self._times.join} s, got none as "
                            f"{_names(missing)}; start all, or give a longer initialization_timeout",
                            "ProcessTimeoutError",
                        )
                    )
                if now - self._changed > MISMATCH_DELAY and self._is_stuck():
                    where = self._where()
                    for key in list(self._meetings):
                        self._fail(key, "ProcessMismatchError", f"got {where}; let all do the same, in one order")
                for key, meeting in list(self._meetings.items()):
                    if now > meeting.deadline:
                        missing = [index for index in meeting.everyone if index not in meeting.there]
                        self._fail(
                            key,
                            "ProcessTimeoutError",
                            f"got {_names(missing)} not there within {meeting.timeout:g} s ({self._where()}); let all "
                            "do the same, or give a longer time",
                        )

    def _is_stuck(self) -> bool:
        """Whether every process waits, and none for what another one will do."""
        waiting = {index for meeting in self._meetings.values() for index in meeting.there}
        return len(self._meetings) > 1 and waiting >= self._members.keys()

    def _where(self) -> str:
        places: dict[int, str] = {index: f"process {index} elsewhere" for index in self._members}
        for meeting in self._meetings.values():
            for index, (where, _) in meeting.there.items():
                places[index] = f"process {index} in {meeting.what}{where}"
        return ", ".join(places[index] for index in sorted(places))

    def close(self, timeout: float) -> None:
        """Ends the service once all processes have left, or after ``timeout`` seconds."""
        self._all_left.wait(timeout)
        self.abandon()
        self._service.shutdown()

    def abandon(self) -> None:
        """Takes no more processes; jaxlib's service stays, as it would abort the processes that still use it."""
        self._is_open = False
        closed(self._listener)
        self.hide()

    def hide(self) -> None:
        """Removes the name of jaxlib's service from the file system; connections stay."""
        if self._path.parent.exists():
            relay.remove(self._path)


def _send(connection: socket.socket, header: Header, payload: bytes = b"") -> None:
    with suppress(OSError):  # the thread that reads from it finds out
        send(connection, header, payload)


def _names(indices: list[int]) -> str:
    return f"process{'es' if len(indices) > 1 else ''} {', '.join(map(str, indices))}"


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        cure = (
            "another program, or another process 0, has the port: choose another one"
            if error.errno == errno.EADDRINUSE
            else "give an address of the machine of process 0"
        )
        raise ProcessError(
            f"initialize: expected process 0 to listen at {host}:{port}, got the error {error}; {cure}"
        ) from error
    return listener
