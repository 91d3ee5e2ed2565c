"""Runs a program in several processes, by itself, without the launcher, and says how each of them ended."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Much longer than a test takes: a process that is still there then is left over.
LIMIT = 60

HEAD = """
import builtins, os, sys, time
import numpy as np
from lawful import ops, parallel
from lawful.parallel import *
from lawful.staging import jit

def print(*values):
    # gloo's threads write to the same stream, each line in several parts.
    builtins.print("\\n@", *[str(value).replace("\\n", "") for value in values], flush=True)

def start(**times):
    parallel.initialize(**{"initialization_timeout": 40, "collective_timeout_seconds": 40,
                           "shutdown_timeout_seconds": 40, **times})
    return parallel.process_index()

def global_array(size=8):
    from lawful import xla_backend
    sharding, values = NamedSharding(make_mesh((device_count(),), ("x",)), P("x")), np.arange(float(size))
    return xla_backend.make_array_from_callback((size,), sharding, lambda index: values[index])

def report(function):
    begin = time.monotonic()
    try:
        print("value", function())
    except Exception as error:
        print(type(error).__name__, error)
    print("seconds", time.monotonic() - begin)

@jit
def total(x):
    return ops.reduce_sum(ops.sin(x), (0,))

@jit
def largest(x):
    return ops.reduce_max(ops.sin(x), (0,))

"""


@dataclass
class Ended:
    """How a process ended: its exit status, negative for a signal, and its output."""

    status: int
    out: str
    err: str

    @property
    def seconds(self) -> float:
        """How long the last reported function took."""
        return float(self.out.split("seconds ")[-1].split()[0])

    @property
    def lines(self) -> list[str]:
        """The output of the process, without gloo's lines."""
        return [line.removeprefix("@ ") for line in self.out.splitlines() if line.startswith("@ ")]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def environment(**variables: object) -> dict[str, str]:
    """Returns this process's environment without what others would set, and with these variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LAWFUL_CPU", "XLA_FLAGS"))}
    return {**kept, **{name: str(value) for name, value in variables.items()}}


def run(
    folder: Path,
    program: str,
    count: int = 2,
    *,
    devices: int = 1,
    variables: Sequence[Mapping[str, object]] | None = None,
) -> list[Ended]:
    """Runs a program, after `HEAD`, in processes that are told apart by their environment.

    Args:
      folder: where to write it.
      program: its text.
      count: the number of processes.
      devices: how many devices each of them has.
      variables: those of each process, beside or instead of the usual ones.
    """
    script = folder / "program.py"
    script.write_text(HEAD + program)
    port = free_port()
    processes = [
        subprocess.Popen(
            [sys.executable, str(script)],
            env=environment(
                **{
                    "LAWFUL_COORDINATOR_ADDRESS": f"127.0.0.1:{port}",
                    "LAWFUL_NUM_PROCESSES": count,
                    "LAWFUL_PROCESS_ID": index,
                    "LAWFUL_CPU_DEVICES": devices,
                    "PORT": port,
                    **own,
                }
            ),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        for index, own in enumerate(variables or [{}] * count)
    ]
    deadline = time.monotonic() + LIMIT
    try:
        outputs = [process.communicate(timeout=max(0.1, deadline - time.monotonic())) for process in processes]
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return [Ended(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]
