"""Worker processes: one for each system, whose CPU counts as many devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from benchmarks._case import Timed
from benchmarks._measure import sample, warmed
from benchmarks._systems import systems
from benchmarks.devices import _calls
from benchmarks.devices._collectives import collectives
from benchmarks.devices._programs import Sizes, programs

#: Seconds for which a call is run before it is measured.
WARMING = 1.0
#: A sample is as many times as long as those on one device: the threads of devices wake up slowly.
SAMPLES = 8


class Calls:
    """The calls of a system, of which one is prepared at a time."""

    timed: Timed

    def __init__(self, system: str) -> None:
        self.of = systems[system]()

    def prepare(self, group: str, name: str) -> int:
        """Prepares a call, and returns how many of it a sample should have."""
        [case] = [case for case in _calls.cases if (case.group, case.name) == (group, name)]
        self.timed = case.prepare(self.of)
        return 1 if group == _calls.COMPILE else SAMPLES * warmed(self.timed, WARMING)[0]

    def sample(self, loops: int, clock: str) -> float:
        """Returns the seconds of the prepared call: what it returns, or the mean of a sample."""
        if clock == "told":
            return float(self.timed.call())
        return sample(self.timed, loops, time.process_time if clock == "processor" else time.perf_counter)

    def collectives(self, name: str, count: int) -> dict[str, tuple[int, int]]:
        """Returns the number and bytes of each kind of collective in a program on so many devices."""
        built = programs[name](self.of, count, Sizes())
        found = collectives(built.function.lower(*built.args).compile().as_text())
        return {kind: (one.count, one.bytes) for kind, one in found.items()}

    def growth(self, name: str, count: int) -> dict[str, float]:
        """Returns what a program on so many devices costs: seconds of processor time by stage, and bytes of text."""
        self.of.clear()
        built = programs[name](self.of, count, Sizes())
        start = time.process_time()
        traced = built.function.trace(*built.args)
        since_traced = time.process_time()
        lowered = traced.lower()
        since_lowered = time.process_time()
        compiled = lowered.compile()
        stages = {
            "trace": since_traced - start,
            "lower": since_lowered - since_traced,
            "compile": time.process_time() - since_lowered,
        }
        return {**stages, "StableHLO": len(lowered.as_text()), "HLO": len(compiled.as_text())}


def work(system: str) -> None:
    """Answers the requests that are lines of the input: the name of a method of `Calls`, and its arguments."""
    calls = Calls(system)
    for line in sys.stdin:
        method, *args = json.loads(line)
        print(json.dumps(getattr(calls, method)(*args)), flush=True)


class Worker:
    """A process with a system and so many devices."""

    def __init__(self, system: str, count: int) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.devices", "--worker", system],
            stdin=pipe, stdout=pipe, text=True, env=environment(count),
        )  # fmt: skip

    def __call__(self, method: str, *args: Any) -> Any:
        """Returns what a method of `Calls` returns."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([method, *args]), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"benchmarks.devices: the worker ended at {method}{args}; its error is above")
        return json.loads(line)

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


def environment(count: int) -> dict[str, str]:
    """Returns the environment of a process with so many devices, in which both systems compile alike."""
    own = {"LAWFUL_CPU_DEVICES": str(count), "JAX_NUM_CPU_DEVICES": str(count), "JAX_PLATFORMS": "cpu"}
    left_out = ("JAX_DISABLE_MOST_OPTIMIZATIONS", "XLA_FLAGS")
    return {**{name: value for name, value in os.environ.items() if name not in left_out}, **own}
