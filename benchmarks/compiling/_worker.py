"""Worker processes that compile: one for each system, replaced when it dies or takes too long."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from benchmarks._systems import systems
from benchmarks.compiling import _draws, _functions

#: Seconds after which a program counts as one that does not compile.
LIMIT = 600.0
#: A faster program is compiled several times: the processor seconds, and the largest number of times.
REPEATED, ROUNDS = 0.25, 4
#: For each stage the processor seconds, or the reason why they are missing.
Result = dict[str, Any]


def measure(system: str, module: str, name: str, form: str) -> Result:
    """Returns the least processor seconds in which a program is traced and lowered, and in which XLA compiles it.

    Seconds of all threads of the process, so that other processes do not count.
    """
    of = systems[system]()
    found = (
        _draws.program_of(of, name, form)
        if module == "random"
        else _functions.program_of(of, module, name, form)
    )  # fmt: skip
    if found is None:
        return {"error": "no such function"}
    program, args = found
    rounds: list[tuple[float, float]] = []
    while not rounds or (len(rounds) < ROUNDS and sum(map(sum, rounds)) < REPEATED):
        of.clear()
        start = time.process_time()
        try:
            lowered = of.jit(lambda *args: program(*args)).lower(*args)
        except Exception as error:  # a peer's function of this name may take other arguments
            return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        middle = time.process_time()
        lowered.compile()
        rounds.append((middle - start, time.process_time() - middle))
    return {"lower": min(a for a, _ in rounds), "compile": min(b for _, b in rounds), "total": min(map(sum, rounds))}


def work(system: str) -> None:
    """Measures the programs that are lines of the input."""
    of = systems[system]()
    of.jit(lambda x: x + 1.0).lower(1.0).compile()  # the first compilation also starts the compiler
    for line in sys.stdin:
        result = json.dumps(measure(system, *json.loads(line)))
        with suppress(BrokenPipeError):  # the parent has ended
            print(result, flush=True)


class Worker:
    """A process that measures for a system."""

    def __init__(self, system: str) -> None:
        self.command = [sys.executable, "-m", "benchmarks.compiling", "--worker", system]
        self.process: subprocess.Popen[str] | None = None

    def measure(self, program: tuple[str, str, str]) -> Result:
        """Returns the result of `measure`; an error if the process dies or exceeds the limit, after which a new one
        starts.
        """
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(program), file=self.process.stdin, flush=True)
            if not select.select([self.process.stdout], [], [], LIMIT)[0]:
                self.close()
                return {"error": f"over {LIMIT:g} s"}
            found: Result = json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            self.close()
            return {"error": "the process died"}
        return found

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
