"""The calls into jaxlib's distributed runtime, by which the CPU clients of several processes are one.

Facts about jaxlib's private API, valid for 0.11.2 to 0.12.0.1:

- Process 0 runs a service: a store of keys and values. Clients read the others' devices there, and gloo the addresses
  of its connections, for each new group of devices.
- A client aborts its process, with a log line, when its connection to the service ends or the service says that a
  process missed its heartbeats; given a function to call instead, it aborts all the same, as it cannot convert the
  function's argument. So there are no heartbeats here, and the address given to `connect` must outlive the service.
- A service takes a socket of the file system as its address, ``unix:path``.
- gloo waits for the others as long as XLA's flag ``xla_cpu_collective_timeout_seconds`` says, by default 30 minutes.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Final, Protocol

from lawful.core import no_collections

with no_collections():
    from jaxlib import _jax

from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._runtime.bindings import RuntimeFailure, bytecode
from lawful.xla_backend._runtime.executables import Executable, is_limited
from lawful.xla_backend._runtime.handles import Target

# In seconds: three years, as 0 is no number of them.
_NO_HEARTBEATS: Final = 100_000_000
# So many of the last programs are watched for errors.
_MAX_RECENT: Final = 16


class Group(Protocol):
    """Questions of the backend to other processes; `lawful.parallel`, which stands above this package, answers them.

    >>> class Alone(Group):
    ...     def is_alive(self):
    ...         return True
    >>> Alone().is_alive()
    True
    """

    def before_start(self) -> None:
        """Waits until all processes make their client of the CPU, or raises an error."""

    def agree(self, name: str, fingerprint: str, everyone: Sequence[int]) -> None:
        """Raises an error if other processes do not begin to run the same program."""

    def begin(self, name: str, fingerprint: str, everyone: Sequence[int]) -> None:
        """Tells the other processes which program this one begins to run; they learn of it if they run another."""

    def is_alive(self) -> bool:
        """Whether all processes work, as far as is known."""

    def require_alive(self, what: str) -> None:
        """Raises an error if another process has ended."""

    def explain(self, error: str, programs: Sequence[str]) -> Exception | None:
        """Returns the error to raise where one of the programs over several processes failed; None if it was another.

        Args:
          error: the runtime's error.
          programs: the names of those that have not ended.
        """


class _Run:
    """A run of a program over several processes: what `execute_sharded` returned, and whether it has ended."""

    __slots__ = ("_started", "_watched", "executable", "is_running", "name", "token")

    _watched: SimpleQueue[_Run] | None

    def __init__(self, name: str, executable: Executable, started: Any, watched: SimpleQueue[_Run]) -> None:
        self.name, self.executable, self._watched = name, executable, watched
        self._started, self.token = started, started.consume_token()
        self.is_running = True

    def consume_with_handlers(self, handlers: Sequence[Any]) -> list[Any]:
        started, self._started = self._started, None
        results: list[Any] = started.consume_with_handlers(handlers)
        if results and results[0].is_ready():  # with one device in each process a call returns at the end
            self.is_running = False
        elif is_limited:
            self.watch()
        return results

    def watch(self) -> None:
        """Lets another thread wait for its end."""
        if self._watched is not None and self.is_running:
            self._watched.put(self)
            self._watched = None

    def has_failed(self) -> bool:
        """Waits for the end; returns whether it ended with an error."""
        try:
            self.token.block_until_ready()
        except RuntimeFailure:
            return True
        return False

    def consume_token(self) -> Any:
        return self.token


def _await_all(runs: SimpleQueue[_Run]) -> None:
    """Notes the ends of programs, one after another: a token can be waited for, but not asked."""
    while True:
        run = runs.get()
        run.has_failed()
        run.is_running = False


def _is_ready(buffer: Any) -> bool:
    try:
        return bool(buffer.is_ready())
    except RuntimeFailure:  # it was donated
        return True


class Processes:
    """The processes that this one is one of, and the programs that it runs together with others.

    Attributes:
      index: the number of this process.
      count: how many there are.
      client: what `connect` returned.
      host: the address of this machine at which the others reach it.
      timeout: for how many seconds a collective waits for the other processes.
      group: the other processes.

    >>> Processes(0, 1, None, "localhost", 60, None).programs()
    {}
    """

    def __init__(self, index: int, count: int, client: Any, host: str, timeout: int, group: Group) -> None:
        self.index, self.count, self.client = index, count, client
        self.host, self.timeout, self.group = host, timeout, group
        self._counts: Counter[int] = Counter()
        self._recent: deque[_Run] = deque(maxlen=_MAX_RECENT)
        self._watched: SimpleQueue[_Run] = SimpleQueue()
        threading.Thread(target=_await_all, args=(self._watched,), name="lawful programs", daemon=True).start()

    def programs(self) -> dict[int, int]:
        """Returns for each process how many programs were begun together with it."""
        return dict(self._counts)

    def finish(self) -> None:
        """Waits until the programs over several processes have ended."""
        self._wait(self.is_running)

    def watch(self, executable: Executable, name: str, module: Any, target: Target) -> None:
        """Makes a program agree with the other processes before its first run, and tells them of each run.

        Args:
          executable: the program.
          name: its name, for errors.
          module: what was compiled.
          target: the devices that it runs on; nothing is done if they all belong to this process.
        """
        everyone = sorted({device.process_index for device in target}) if isinstance(target, tuple) else []
        others = [index for index in everyone if index != self.index]
        if not others:
            return
        assert isinstance(target, tuple)
        from hashlib import sha256  # imported late: it takes 3 ms

        ids = ",".join([str(device.id) for device in target])
        fingerprint = sha256(bytecode(module) + ids.encode()).hexdigest()
        start, has_agreed = executable.execute, False

        def execute(buffers: list[Any], with_tokens: bool = False) -> Any:
            nonlocal has_agreed
            self._counts.update(others)
            self.group.require_alive(f"the program {name}")
            if not has_agreed:
                self.group.agree(name, fingerprint, everyone)
                has_agreed = True
            self.group.begin(name, fingerprint, everyone)
            try:
                started = start(buffers, with_tokens=True)
            except RuntimeFailure as error:
                raise self.explained(error, [_described(name, executable)]) from error
            if is_limited and len(self._recent) == _MAX_RECENT:
                oldest = self._recent[0]
                self._wait(lambda: oldest.is_running)
            run = _Run(name, executable, started, self._watched)
            self._recent.append(run)
            return run

        executable.execute = execute

    def wait(self, buffer: Any) -> None:
        """Waits until a buffer is computed, or cannot be, as another process has ended."""
        self._wait(lambda: not _is_ready(buffer))

    def _wait(self, is_pending: Callable[[], bool]) -> None:
        delay = 2e-5
        while is_pending():
            if not self.group.is_alive() and self.is_running() and is_pending():
                self.group.require_alive(f"the program {self._unfinished()[0]}")
            time.sleep(delay)
            delay = min(delay * 1.1, 2e-3)

    def is_running(self) -> bool:
        """Whether a program over several processes has not ended, or only just."""
        runs = list(self._recent)
        for run in runs:
            run.watch()
        deadline = time.monotonic() + 0.1
        while (found := any(run.is_running for run in runs)) and time.monotonic() < deadline:
            time.sleep(0.001)
        return found

    def _unfinished(self) -> list[str]:
        """Returns the names of the programs that failed, or have not ended."""
        self.is_running()
        runs = [run for run in list(self._recent) if run.is_running or run.has_failed()]
        return [_described(run.name, run.executable) for run in runs] or ["that another process takes part in"]

    def explained(self, error: Exception, programs: Sequence[str] = ()) -> Exception:
        """Returns the error to raise for one of the runtime's, which says what the other processes did."""
        found = self.group.explain(str(error), programs or self._unfinished())
        return error if found is None else found


_COLLECTIVE: Final = re.compile(
    r" (all-reduce|all-gather|all-to-all|reduce-scatter|collective-permute|collective-broadcast)(?:-start)?\("
)


def _described(name: str, executable: Executable) -> str:
    """Returns a program's name with those of its collectives."""
    found = list(dict.fromkeys(_COLLECTIVE.findall(executable.hlo_text())))
    return f"{name} (with {', '.join(found)})" if found else name


def serve(address: str, count: int, timeout: int) -> Any:
    """Starts the service of ``count`` processes; returns an object with a method ``shutdown``.

    Args:
      address: where it listens, as ``unix:path``.
      count: the number of processes.
      timeout: how long it waits for them, in seconds.

    Raises:
      XlaError: it cannot listen there.

    >>> import tempfile
    >>> address = f"unix:{tempfile.mkdtemp()}/socket"
    >>> service = serve(address, 1, 10)
    >>> client = connect(address, 0, 10)
    >>> client.shutdown()
    >>> del client  # while it exists, it may see the service end, and abort
    >>> service.shutdown()
    """
    try:
        return _jax.get_distributed_runtime_service(
            address, count, heartbeat_timeout=_NO_HEARTBEATS, cluster_register_timeout=timeout, shutdown_timeout=timeout
        )
    except RuntimeFailure as error:
        raise XlaError(f"initialize: expected to serve at {address}, got the runtime's error {error}") from error


def connect(address: str, index: int, timeout: int) -> Any:
    """Returns a client of the service, once all processes are connected; it has a method ``shutdown``.

    Args:
      address: that of the service, or of something that passes on all that comes.
      index: the number of this process.
      timeout: how long to wait for the others, in seconds.

    Raises:
      XlaError: there is no service, or not all processes came.

    >>> import tempfile
    >>> address = f"unix:{tempfile.mkdtemp()}/socket"
    >>> service = serve(address, 1, 10)
    >>> client = connect(address, 0, 10)
    >>> client.shutdown()
    >>> del client  # while it exists, it may see the service end, and abort
    >>> service.shutdown()
    """
    client = _jax.get_distributed_runtime_client(
        address,
        index,
        init_timeout=timeout,
        shutdown_timeout=timeout,
        heartbeat_timeout=_NO_HEARTBEATS,
        shutdown_on_destruction=False,
        use_compression=False,
    )
    try:
        client.connect()
    except RuntimeFailure as error:
        raise XlaError(f"initialize: expected to reach the service, got the runtime's error {error}") from error
    return client


def make_cpu_client(processes: Processes, num_devices: int) -> Any:
    """Returns a new client of the CPUs of all processes; this one counts as so many devices.

    Raises:
      XlaError: another process did not make its own.
    """
    processes.group.before_start()
    _set_collective_timeout(processes.timeout)
    try:
        collectives = _jax.make_gloo_tcp_collectives(distributed_client=processes.client, hostname=processes.host)
        return _jax.get_tfrt_cpu_client(
            asynchronous=True,
            distributed_client=processes.client,
            node_id=processes.index,
            num_nodes=processes.count,
            collectives=collectives,
            num_devices=num_devices,
            get_local_topology_timeout_minutes=_minutes(processes.timeout),
            get_global_topology_timeout_minutes=_minutes(processes.timeout),
        )
    except RuntimeFailure as error:
        raise XlaError(
            f"devices: expected those of {processes.count} processes, got the runtime's error {error}"
        ) from (error)


def _minutes(seconds: int) -> int:
    return max(1, -(-seconds // 60))


_TIMEOUT_FLAG: Final = "--xla_cpu_collective_timeout_seconds"


def _set_collective_timeout(seconds: int) -> None:
    """Sets how long gloo waits, unless the user's ``XLA_FLAGS`` do: XLA reads them once, for the whole process."""
    given = os.environ.get("XLA_FLAGS")
    if given is not None and _TIMEOUT_FLAG in given:
        return
    os.environ["XLA_FLAGS"] = f"{given or ''} {_TIMEOUT_FLAG}={seconds}"
    _jax.CompileOptions()  # reads them
    if given is None:
        del os.environ["XLA_FLAGS"]
    else:
        os.environ["XLA_FLAGS"] = given
