"""How cost grows with the size of a program: tracing, differentiating, lowering, printing, checking.

    uv run python -m benchmarks.growth [--write]

Each size runs in a process of its own, so that its peak memory is its own. ``--write`` puts the table into
``docs/growth.md``.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

SIZES = (1_000, 10_000, 100_000)
#: More bytes than a size needs. A virtual machine gets memory from its host when it is touched for the first time, and
#: the stage that happens to do that takes a third longer: a process before it does so, and leaves the memory free.
TOUCHED = 2**29
#: A small program runs again until it is this many equations, so that its time is more than the noise.
REPEATED = 10_000
PAGE = Path(__file__).parent.parent / "docs" / "growth.md"
MARK = "<!-- measured by benchmarks/growth.py -->\n"


def program(x: Any, equations: int) -> Any:
    """A chain of ``sin(x * 0.5)``."""
    from lawful.ops import sin

    for _ in range(equations // 2):
        x = sin(x * 0.5)
    return x


def stages(equations: int) -> dict[str, Callable[[], Any]]:
    """Returns what is measured, in the order in which it runs."""
    import numpy as np

    from lawful.autodiff import grad, jvp, linearize
    from lawful.core import check_jaxpr, parse_jaxpr
    from lawful.staging import jit, make_jaxpr

    x = np.float64(1.0)

    def f(x: Any) -> Any:
        return program(x, equations)

    jaxpr = make_jaxpr(f)(x)
    return {
        "make_jaxpr": lambda: make_jaxpr(f)(x),
        "jvp, eager": lambda: jvp(f, (x,), (x,)),
        "linearize, eager": lambda: linearize(f, x),
        "grad, eager": lambda: grad(f)(x),
        "make_jaxpr(grad)": lambda: make_jaxpr(grad(f))(x),
        "check_jaxpr": lambda: check_jaxpr(jaxpr),
        "print, then parse": lambda: parse_jaxpr(str(jaxpr)),
        "trace and lower to NumPy": lambda: jit(lambda x: f(x), backend="numpy").lower(x),
        "trace and lower to StableHLO": lambda: jit(lambda x: f(x), backend="xla").lower(x),
        "sum of as many arguments, NumPy": lambda: jit(lambda xs: sum(xs), backend="numpy")([1.0] * equations),
    }


def measure(equations: int, names: Collection[str] = ()) -> dict[str, float]:
    """Returns microseconds of processor time an equation for each stage, and the peak memory of the process in MB.

    Args:
      equations: the size of the program.
      names: the stages; all if there are none.
    """
    for stage in stages(10).values():
        stage()
    result = {}
    for name, stage in stages(equations).items():
        if names and name not in names:
            continue
        total, times = 0.0, max(1, REPEATED // equations)
        for _ in range(times):
            gc.collect()  # what earlier calls left behind counts neither as time nor as memory
            start = time.process_time()
            stage()
            total += time.process_time() - start
        result[name] = total / times / equations * 1e6
    result["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def measure_memory(equations: int, names: Collection[str]) -> dict[str, float]:
    """Returns the most bytes that Python and NumPy hold at once for each stage, beyond what they held before it."""
    for stage in stages(10).values():
        stage()
    todo, result = stages(equations), {}
    for name in names:
        gc.collect()
        tracemalloc.start()
        todo[name]()
        result[name] = float(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return result


def measure_alone(
    equations: int, names: Collection[str] = (), *, memory: bool = False, collected: bool = True
) -> dict[str, float]:
    """Returns ``measure`` or ``measure_memory`` of a fresh process, with or without Python's garbage collector."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.growth",
        "--size",
        str(equations),
        "--stages",
        *names,
        *["--memory"] * memory,
        *["--uncollected"] * (not collected),
    ]
    subprocess.run([sys.executable, "-c", f"bytearray(b'1') * {TOUCHED}"], check=True)
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def table(results: dict[str, dict[str, float]]) -> str:
    """Returns the Markdown table of all sizes."""
    lines = [f"| µs an equation | {' | '.join(results)} |", "|---|" + "---:|" * len(results)]
    for name in next(iter(results.values())):
        digits = 0 if name.startswith("peak") else 1
        lines.append(f"| {name} | {' | '.join(f'{result[name]:.{digits}f}' for result in results.values())} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, help="measure one size and print JSON")
    parser.add_argument("--stages", nargs="*", default=[], help="with --size: only these rows")
    parser.add_argument("--memory", action="store_true", help="with --stages: bytes in place of microseconds")
    parser.add_argument("--uncollected", action="store_true", help="with --size: without the garbage collector")
    parser.add_argument("--write", action="store_true", help="write the table into docs/growth.md")
    options = parser.parse_args()
    if options.size:
        if options.uncollected:
            gc.disable()
        found = (measure_memory if options.memory else measure)(options.size, options.stages)
        print(json.dumps(found))
        return
    from rich.progress import track

    runs = [(f"{size:,}", size, True) for size in SIZES] + [(f"{SIZES[-1]:,}, no collector", SIZES[-1], False)]
    results = {title: measure_alone(size, collected=collected) for title, size, collected in track(runs, "measuring")}
    print(table(results))
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        _, _, after = rest.partition(MARK)
        PAGE.write_text(f"{before}{MARK}{table(results)}{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
