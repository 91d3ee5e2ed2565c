"""How long each function of ``ops``, ``special`` and ``random`` compiles, beside its counterpart of JAX.

    uv run --group bench python -m benchmarks.compiling [WORD ...]

Each is compiled alone, applied to itself, and summed over three pieces of its input (draws: with keys of a chain of
splits). With words, only functions with one of them in their name. A row is marked that takes more than `RATIO` times
as long as JAX and more than `LEAST` seconds; a compilation of more than `GUARD` seconds counts as one that hangs.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks._systems import System, systems

RATIO, LEAST, GUARD = 1.2, 0.2, 60.0
FORMS = ("alone", "of itself", "sum of three")
#: The modules of each system, by lawful's names.
MODULES = {
    "lawful": {name: (f"lawful.{name}",) for name in ("ops", "special", "random")},
    "jax": {"ops": ("jax.lax", "jax.numpy"), "special": ("jax.scipy.special",), "random": ("jax.random",)},
}
#: What is drawn besides functions of a key and a shape: its further arguments.
DRAWS: dict[str, Callable[[Any, Any, tuple[int, ...]], Any]] = {
    **{
        name: lambda f, key, shape: f(key, shape)
        for name in ("uniform", "normal", "exponential", "gumbel", "bits")
    },
    **{name: lambda f, key, shape: f(key, 2.0, shape) for name in ("gamma", "loggamma")},
    "bernoulli": lambda f, key, shape: f(key, 0.5, shape),
    "randint": lambda f, key, shape: f(key, shape, 0, 10),
    "truncated_normal": lambda f, key, shape: f(key, -1.0, 1.0, shape),
    "choice": lambda f, key, shape: f(key, 7, shape),
}  # fmt: skip
Seconds = dict[str, float]


def function_of(system: str, module: str, name: str) -> Callable[..., Any] | None:
    """Returns a function of a system, or None if it has none of the name."""
    return next(
        (getattr(import_module(m), name) for m in MODULES[system][module] if hasattr(import_module(m), name)), None
    )


def chosen(words: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yields module, name and number of arguments of the functions that map arrays of one type to another of it."""
    from lawful.core import LawfulError
    from lawful.staging import eval_shape

    for module in ("ops", "special"):
        package = import_module(f"lawful.{module}")
        for name in sorted(package.__all__):
            if words and not any(word in name for word in words):
                continue
            for count in (1, 2, 3):
                try:
                    out = eval_shape(getattr(package, name), *[np.full(9, 0.5)] * count)
                except (LawfulError, TypeError, ValueError, AttributeError):  # it takes other arguments
                    continue
                if getattr(out, "shape", None) == (9,) and out.dtype == np.float64:
                    yield module, name, count
                    break
    yield from (("random", name, 0) for name in DRAWS if not words or any(word in name for word in words))


def forms(system: System, module: str, name: str, count: int) -> tuple[Any, dict[str, Callable[[Any], Any]]] | None:
    """Returns the input, and the programs by their forms; None if the system has no such function."""
    function = function_of(system.name, module, name)
    if function is None:
        return None
    if module == "random":
        draw = DRAWS[name]

        def chain(key: Any, draws: int) -> Any:
            total = 0
            for _ in range(draws):
                key, own = system.split(key)
                total = total + draw(function, own, (8,))
            return total

        return system.key(0), {form: lambda key, n=n: chain(key, n) for form, n in zip(FORMS, (1, 2, 3), strict=True)}

    def f(x: Any) -> Any:
        return function(*[x] * count)

    return np.full(9, 0.5), {
        "alone": f,
        "of itself": lambda x: f(f(x)),
        "sum of three": lambda x: f(x[:3]) + f(x[3:6]) + f(x[6:]),
    }


def measure(system: System, module: str, name: str, count: int) -> Seconds:
    """Returns the seconds that each form takes to compile, the better of two; empty if the system refuses them."""
    found = forms(system, module, name, count)
    if found is None:
        return {}
    x, programs = found
    result = {}
    for form, program in programs.items():
        best = np.inf
        for _ in range(2):
            system.clear()
            try:
                lowered = system.jit(lambda x, program=program: program(x)).lower(x)
            except (TypeError, ValueError):  # its counterpart takes other arguments
                return {}
            start = time.perf_counter()
            lowered.compile()
            best = min(best, time.perf_counter() - start)
        result[form] = best
    return result


def work(name: str) -> None:
    """Measures the functions whose module, name and count are lines of the input."""
    system = systems[name]()
    system.jit(lambda x: x + 1.0).lower(1.0).compile()  # the first compilation also starts the compiler
    for line in sys.stdin:
        print(json.dumps(measure(system, *json.loads(line))), flush=True)


class Worker:
    """A process that measures for a system, and is replaced by another when a compilation hangs."""

    def __init__(self, system: str) -> None:
        self.command = [sys.executable, "-m", "benchmarks.compiling", "--worker", system]
        self.process: subprocess.Popen[str] | None = None

    def measure(self, row: tuple[str, str, int]) -> Seconds:
        """Returns what `measure` does; infinite seconds if it does not end."""
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(row), file=self.process.stdin, flush=True)
        if not select.select([self.process.stdout], [], [], GUARD)[0]:
            self.close()
            return dict.fromkeys(FORMS, np.inf)
        found: Seconds = json.loads(self.process.stdout.readline())
        return found

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def is_slow(ours: float, theirs: float | None) -> bool:
    """Returns whether a compilation takes too long beside JAX's; None is JAX's where it has no such function."""
    return ours > max(LEAST, RATIO * (theirs or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only functions with one of these in their name")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    workers = {name: Worker(name) for name in MODULES}
    table = Table("function", *[f"{form}, {unit}" for form in FORMS for unit in ("ms", "jax")], "slow")
    for row in track(list(chosen(options.words)), "compiling"):
        ours, theirs = (worker.measure(row) for worker in workers.values())
        slow = [form for form in ours if is_slow(ours[form], theirs.get(form))]
        numbers = [f"{of[form] * 1e3:.0f}" if form in of else "" for form in FORMS for of in (ours, theirs)]
        table.add_row(f"{row[0]}.{row[1]}", *numbers, ", ".join(slow))
    for worker in workers.values():
        worker.close()
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
