"""The launcher of local processes: starts them, shows their output, and leaves none behind."""

from __future__ import annotations

import argparse
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from types import FrameType
from typing import BinaryIO, Final

from lawful.parallel._processes.settings import ADDRESS, COUNT, INDEX, LAUNCHED

#: For how many seconds the other processes may report what they know once one has failed, and may then still tidy up.
REPORT_TIME: Final = 5.0
STOP_TIME: Final = 3.0
_COLORS: Final = ("cyan", "green", "yellow", "magenta", "blue", "red")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status of the first process that failed, 128 + n if signal n ended it."""
    parser = argparse.ArgumentParser(
        prog="python -m lawful.parallel",
        description="Runs a program in several processes on this machine; it calls lawful.parallel.initialize().",
        epilog="When one process fails, all are ended, and its exit status is that of this command.",
    )
    parser.add_argument("-n", "--processes", type=int, required=True, help="the number of processes")
    parser.add_argument("--devices-per-process", type=int, help="how many devices each one's CPU counts as")
    parser.add_argument(
        "--port", type=int, help="where process 0 listens, on the loopback address; by default a free one"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="the program is the name of a module")
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args(arguments)
    for name, value in (("-n", options.processes), ("--devices-per-process", options.devices_per_process)):
        if value is not None and value < 1:
            parser.error(f"expected {name} of at least 1, got {value}")
    if options.port is not None and not 0 < options.port < 65_536:
        parser.error(f"expected --port from 1 to 65535, got {options.port}")
    program = ["-m", options.program] if options.module else [options.program]
    environment = {**os.environ, COUNT: str(options.processes), LAUNCHED: "1", "PYTHONUNBUFFERED": "1"}
    environment[ADDRESS] = f"127.0.0.1:{options.port or _free_port()}"
    if options.devices_per_process is not None:
        environment["LAWFUL_CPU_DEVICES"] = str(options.devices_per_process)
    return _Launch([sys.executable, *program, *options.args], environment, options.processes).run()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class _Stream:
    """A stream of one process, which is written on line by line, each with the process's number before it."""

    def __init__(self, source: BinaryIO, target: BinaryIO, prefix: bytes) -> None:
        self.source, self._target, self._prefix = source, target, prefix
        self._rest = b""
        os.set_blocking(source.fileno(), False)

    def pass_on(self) -> bool:
        """Writes the lines that are there; returns whether more may come."""
        try:
            chunk = os.read(self.source.fileno(), 65_536)
        except BlockingIOError:
            return True
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if not chunk and self._rest:
            lines, self._rest = [self._rest], b""
        if lines:
            self._target.write(b"".join([self._prefix + line + b"\n" for line in lines]))
            self._target.flush()
        return bool(chunk)


class _Launch:
    """Processes that run, from their start to the end of the last one."""

    def __init__(self, command: list[str], environment: dict[str, str], count: int) -> None:
        self._command, self._environment, self._count = command, environment, count
        self._processes: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()
        # The first failure: an exit status, and what to say.
        self._failure: tuple[int, str] | None = None
        self._ended: set[int] = set()
        self._deadlines: list[tuple[float, signal.Signals]] = []

    def run(self) -> int:
        wake_reader, wake_writer = os.pipe()
        for end in (wake_reader, wake_writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupted)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._selector.register(wake_reader, selectors.EVENT_READ)
        try:
            for index in range(self._count):
                self._start(index)
            while len(self._ended) < self._count:
                self._step(wake_reader)
        finally:
            self._kill_all()
        self._drain()
        return 0 if self._failure is None else self._failure[0]

    def _start(self, index: int) -> None:
        process = subprocess.Popen(
            self._command,
            env={**self._environment, INDEX: str(index)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that what a process starts can be ended with it
            preexec_fn=_ends_with_parent(),
        )
        self._processes.append(process)
        assert process.stdout is not None
        assert process.stderr is not None
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            stream = _Stream(source, target.buffer, _prefix(index, target.isatty()))  # type: ignore[arg-type]
            self._selector.register(source, selectors.EVENT_READ, stream)

    def _step(self, wake_reader: int) -> None:
        """Waits until there is output, a process ends, or the time for one is over."""
        timeout = None
        if self._deadlines:
            timeout = max(0.0, self._deadlines[0][0] - time.monotonic())
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                os.read(wake_reader, 4096)
            elif not key.data.pass_on():
                self._selector.unregister(key.fileobj)
        for index, process in enumerate(self._processes):
            if index not in self._ended and (status := process.poll()) is not None:
                self._ended.add(index)
                if status:
                    self._failed(index, status)
        while self._deadlines and self._deadlines[0][0] <= time.monotonic():
            self._signal_all(self._deadlines.pop(0)[1])

    def _failed(self, index: int, status: int) -> None:
        if self._failure is not None:
            return
        how = f"ended with the exit status {status}" if status > 0 else f"was ended by {_signal_name(-status)}"
        self._report(
            status if status > 0 else 128 - status, f"process {index} {how}; the others are ended", REPORT_TIME
        )

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._failure is None:
            self._report(128 + number, f"{_signal_name(number)}: all processes are ended", 0)
        else:
            self._deadlines = [(0, signal.SIGKILL)]

    def _report(self, status: int, text: str, patience: float) -> None:
        self._failure = status, text
        start = time.monotonic() + patience
        self._deadlines = [(start, signal.SIGTERM), (start + STOP_TIME, signal.SIGKILL)]
        sys.stderr.write(f"lawful.parallel: {text}\n")
        sys.stderr.flush()

    def _signal_all(self, number: signal.Signals) -> None:
        for index, process in enumerate(self._processes):
            if index not in self._ended:
                _signal_session(process.pid, number)

    def _kill_all(self) -> None:
        """Ends all processes that are left, and what they started in their sessions."""
        for process in self._processes:
            _signal_session(process.pid, signal.SIGKILL)
            process.wait()

    def _drain(self) -> None:
        for key in list(self._selector.get_map().values()):
            while key.data is not None and key.data.pass_on():
                if not self._selector.select(0):
                    break


def _signal_session(session: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nothing is left of it
        os.killpg(session, number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _prefix(index: int, is_terminal: bool) -> bytes:
    text = f"[{index}] "
    if is_terminal and find_spec("rich") is not None:
        from rich.style import Style  # imported late: it is optional

        text = Style(color=_COLORS[index % len(_COLORS)]).render(text)
    return text.encode()


def _ends_with_parent() -> Callable[[], None] | None:
    """Returns what makes a new process end when this one does, however it does; Linux alone has this."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl, parent, set_death_signal = ctypes.CDLL(None).prctl, os.getpid(), 1

    def prepare() -> None:
        prctl(set_death_signal, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            os._exit(1)

    return prepare
