"""``initialize`` and ``shutdown``: this process becomes one of several, whose devices are those of all."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from lawful.core import ArgumentValueError
from lawful.parallel._mesh.devices import xla
from lawful.parallel._processes import relay, settings
from lawful.parallel._processes.coordinator import Coordinator, Times
from lawful.parallel._processes.errors import ProcessEndedError, ProcessError, ProcessTimeoutError
from lawful.parallel._processes.member import Member

# For how many seconds a process that fails because of another one lets that one end first.
_VICTIM_DELAY: Final = 1.0


class Group:
    """The processes that this one belongs to.

    Attributes:
      member: this process among them.
      runtime: jaxlib's client, as ``lawful.xla_backend`` has it.
      timeout: for how many seconds a process waits for the others, by default.
      shutdown_timeout: and in `shutdown`.
    """

    def __init__(
        self,
        server: tuple[str, int],
        bind: tuple[str, int],
        index: int,
        count: int,
        times: Times,
        timeout: int,
        shutdown_timeout: int,
    ) -> None:
        distributed = _runtime()
        self.timeout, self.shutdown_timeout = timeout, shutdown_timeout
        self._coordinator: Coordinator | None = None
        if index == 0:
            self._coordinator = Coordinator(
                *bind, count, times, lambda address: distributed.serve(address, count, times.join)
            )
        try:
            self.member = Member(*server, index, count, times)
            if self._coordinator is not None:
                address, passed = self._coordinator.address, None
            else:
                passed = relay.Relay(self.member.dial)
                address = passed.address
            client = distributed.connect(address, index, times.join)
        except BaseException:
            if self._coordinator is not None:
                self._coordinator.close(1)
            raise
        if passed is not None:
            passed.hide()
        elif self._coordinator is not None:
            self._coordinator.hide()  # all processes are connected
        self.runtime = distributed.Processes(index, count, client, self.member.host, timeout, self)
        self.member.on_leaving = self._peer_leaves
        distributed.set_processes(self.runtime)

    # The interface for `lawful.xla_backend`

    def before_start(self) -> None:
        """Waits until all processes make their client of the devices."""
        self.member.meet("devices", timeout=self.timeout)

    def agree(self, name: str, fingerprint: str, everyone: Sequence[int]) -> None:
        """Raises ProcessMismatchError if the other processes begin to run another program than this one."""
        self.member.meet(f"the program {name}", key=f"program {fingerprint}", everyone=everyone, timeout=self.timeout)

    def begin(self, name: str, fingerprint: str, everyone: Sequence[int]) -> None:
        """Lets process 0 know of a run, without waiting: where others run another program, all fail."""
        self.member.announce_run(f"the program {name}", fingerprint, everyone)

    def is_alive(self) -> bool:
        """Whether all processes work, as far as is known."""
        return self.member.failure is None

    def require_alive(self, what: str) -> None:
        """Raises ProcessEndedError if another process has ended."""
        for index in list(self.member.leaving):
            self._peer_leaves(index)
        self.member.require_alive(what)

    def explain(self, error: str, programs: Sequence[str]) -> Exception | None:
        """Returns the error to raise where a program over several processes failed, None for the runtime's own."""
        if "Gloo" not in error:
            return None
        what = f"the program {programs[0]}"
        timed_out = "Timed out" in error or "timeout" in error
        # The end of a connection is known here before the coordinator says which process ended.
        self.member.wait_for_failure(0 if timed_out else 2)
        if not timed_out and (differing := self.member.mismatch(what)) is not None:
            return differing
        # A device whose wait is over closes its connections, so that the other devices see a peer that closed them.
        if self.member.failure is None and (timed_out or "closed by peer" in error):
            return ProcessTimeoutError(
                f"{what}: expected the other processes to run it within {self.timeout} s, got the runtime's error "
                f"{error}; let all run the same programs in the same order, or give initialize a longer "
                "collective_timeout_seconds"
            )
        ended = self.member.failure or f"the runtime's error {error}"
        return ProcessEndedError(
            f"{what}: expected {self.member.count} processes, got {ended}; look at the output of that process, and "
            "start all anew"
        )

    def _peer_leaves(self, index: int) -> None:
        """Finds out whether this process began a program that another one, which ends, did not."""
        here, there = self.runtime.programs().get(index, 0), self.member.leaving[index].get(self.member.index, 0)
        if here > there:
            self.member.report(
                index, f"it shut down after {there} of the {here} programs that process {self.member.index} ran with it"
            )

    # The end

    def shut_down(self, error: str = "") -> None:
        """Ends the work with the others, once all want to; at once where this process or another one failed."""
        member = self.member
        error = error or member.failure or ""
        try:
            if not error:
                self.runtime.finish()
                member.announce_leaving(self.runtime.programs())
                member.meet("shutdown", timeout=self.shutdown_timeout)
                self.runtime.client.shutdown()
        except BaseException as raised:
            error = str(raised)
            raise
        finally:
            member.leave(error)
            if self._coordinator is not None:
                if error:
                    self._coordinator.abandon()
                else:
                    self._coordinator.close(5)

    @property
    def is_stuck(self) -> bool:
        """Whether a program waits for other processes; its threads would let Python wait for it at the end."""
        return bool(self.runtime.is_running())


_group: Group | None = None


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: None = None,
    *,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    collective_timeout_seconds: int = 600,
    coordinator_bind_address: str | None = None,
) -> None:
    """Makes this process one of several, which see each other's devices and run programs on them together.

    Call it in each of the processes, before devices are first used. Process 0 listens at the address; the others may be
    started before it. ``python -m lawful.parallel -n 2 script.py`` starts processes on this machine and sets what the
    arguments are by default. When Python ends, `shutdown` is called.

    Args:
      coordinator_address: host and port, ``"10.0.0.1:1234"``, at which process 0 listens; the host is an address of its
        machine. By default the environment variable ``LAWFUL_COORDINATOR_ADDRESS``.
      num_processes: the number of processes; by default ``LAWFUL_NUM_PROCESSES``.
      process_id: the number of this process, from 0; by default ``LAWFUL_PROCESS_ID``.
      local_device_ids: None. CPU devices are not chosen: `set_cpu_device_count` says how many this process has.
      initialization_timeout: how long to wait for the other processes, in seconds.
      heartbeat_timeout_seconds: after how many seconds a machine that cannot be reached counts as gone. The end of a
        process is known at once.
      shutdown_timeout_seconds: how long `shutdown` waits for the others.
      collective_timeout_seconds: how long a program and the functions of this package wait for other processes.
      coordinator_bind_address: host and port at which process 0 listens, where that is not the coordinator_address, by
        which the others reach it.

    Raises:
      ArgumentTypeError: an argument is of another type, or is missing, also in the environment.
      ArgumentValueError: an argument is out of range.
      RuntimeStartedError: devices are in use already.
      ProcessTimeoutError: process 0, or another process, is not there in time.
      ProcessError: `initialize` was called before; the port is in use; numbers of processes differ, or one occurs
        twice.

    >>> from lawful.core import LawfulError
    >>> try:
    ...     initialize("10.0.0.1:1234", num_processes=2, process_id=2)  # the last one is process 1
    ... except LawfulError:
    ...     print(is_initialized())
    False

    Source: ``jax.distributed.initialize``. JAX also asks cluster managers; here the environment has to say.
    """
    global _group
    if _group is not None:
        raise ProcessError("initialize: expected to be called once, got a second call; leave it out")
    backend: Any = xla()
    if backend is None:
        raise ProcessError(
            "initialize: expected XLA, got an installation without; install lawful-xla-backend, or run one process"
        )
    server = settings.address("coordinator_address", coordinator_address)
    bind = (
        server
        if coordinator_bind_address is None
        else settings.address("coordinator_bind_address", coordinator_bind_address)
    )
    count = settings.integer("num_processes", num_processes, settings.COUNT, 1)
    index = settings.integer("process_id", process_id, settings.INDEX, 0)
    if index >= count:
        raise ArgumentValueError(
            f"initialize: expected a process_id below num_processes, {count}, got {index}; number them from 0"
        )
    if local_device_ids is not None:
        raise ArgumentValueError(
            f"initialize: expected local_device_ids=None, got {local_device_ids!r}; CPU devices are not chosen, their "
            "number is: call set_cpu_device_count"
        )
    if backend.default_backend() != "cpu":
        raise ArgumentValueError(
            f"initialize: expected the CPU, got the platform {backend.default_backend()!r}, on which several processes "
            "are not supported; set LAWFUL_PLATFORM=cpu"
        )
    _runtime().require_not_started("initialize")
    join, beat, end, wait = (
        settings.integer(name, value, None, 1)
        for name, value in (
            ("initialization_timeout", initialization_timeout),
            ("heartbeat_timeout_seconds", heartbeat_timeout_seconds),
            ("shutdown_timeout_seconds", shutdown_timeout_seconds),
            ("collective_timeout_seconds", collective_timeout_seconds),
        )
    )
    _group = Group(server, bind, index, count, Times(join, beat), wait, end)


def is_initialized() -> bool:
    """Returns whether this process is one of several by `initialize`.

    >>> is_initialized()
    False

    Source: ``jax.distributed.is_initialized``.
    """
    return _group is not None


def shutdown() -> None:
    """Ends the work with the other processes, once all of them call it; without `initialize` it does nothing.

    It waits for the programs that run, and then for the other processes, as long as ``shutdown_timeout_seconds`` of
    `initialize` says. Python calls it at exit. Where this process ends by an error, it does not wait, and the others
    are told which one.

    Raises:
      ProcessEndedError: another process ended before.
      ProcessTimeoutError: another process does not end in time.
      ProcessMismatchError: the others wait for this process in another function.

    >>> shutdown()
    >>> is_initialized()
    False

    Source: ``jax.distributed.shutdown``.
    """
    global _group
    if _group is not None:
        group, _group = _group, None
        group.shut_down()


def _runtime() -> Any:
    """Returns the module of `lawful.xla_backend` about several processes."""
    return importlib.import_module("lawful.xla_backend.distributed")


def group() -> Group | None:
    """Returns the processes that this one belongs to; None where it is alone."""
    return _group


@atexit.register
def _at_exit() -> None:
    global _group
    if _group is None:
        return
    group, _group = _group, None
    raised = getattr(sys, "last_exc", None)
    has_failed = raised is not None
    try:
        group.shut_down("" if raised is None else f"{type(raised).__name__}: {raised}")
    except ProcessError as error:
        sys.stderr.write(f"lawful.parallel: {error}\n")
        has_failed = True
    if has_failed and settings.LAUNCHED in os.environ and (raised is None or isinstance(raised, ProcessError)):
        time.sleep(_VICTIM_DELAY)
    if has_failed or group.is_stuck:
        # Nothing else in atexit changes the status; and Python would wait for threads that wait for other processes.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
