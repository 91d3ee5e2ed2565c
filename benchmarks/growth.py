"""How cost grows with the size of a program: tracing, differentiating, lowering, printing, checking.

    uv run python -m benchmarks.growth [--write]

Each size runs in a process of its own, so that its peak memory is its own. ``--write`` puts the tables into
``docs/growth.md``: one of chains of equations, one of conds within each other.
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
#: Touched before a measurement: a virtual machine gets memory from its host at first use, which would slow down the
#: first stage. In bytes, more than any size needs.
TOUCHED = 2**29
#: A small program is run repeatedly, up to this many equations in total, so that its time exceeds the noise.
REPEATED = 10_000
PAGE = Path(__file__).parent.parent / "docs" / "growth.md"
MARK = "<!-- measured by benchmarks/growth.py -->\n"
#: The depths of nested conds. Python's recursion limit is raised for the last.
DEPTHS = (5, 10, 20, 40, 80, 160)
NESTED_MARK = "<!-- measured by benchmarks/growth.py, nested conds -->\n"


def program(x: Any, equations: int) -> Any:
    """A chain of ``sin(x * 0.5)``."""
    from lawful.ops import sin

    for _ in range(equations // 2):
        x = sin(x * 0.5)
    return x


def nested(depth: int) -> Callable[[Any], Any]:
    """Nested conds, each of which computes something before the next."""
    from lawful.control_flow import cond
    from lawful.ops import sin

    if not depth:
        return sin
    inner = nested(depth - 1)
    return lambda x: cond(x > 0.0, lambda y: inner(sin(y) * 2.0), lambda y: y * y, x)


def measure_nested(depth: int) -> dict[str, float]:
    """Returns the processor time of each stage in milliseconds per cond, and the size of the gradient's program."""
    from lawful.autodiff import grad, jvp
    from lawful.core import jaxprs_in_params, parse_jaxpr
    from lawful.staging import clear_caches, make_jaxpr

    def size(jaxpr: Any) -> int:
        inner = sum(size(each) for eqn in jaxpr.eqns for each in jaxprs_in_params(eqn.params))
        return inner + sum(len(eqn.invars) + len(eqn.outvars) for eqn in jaxpr.eqns)

    sys.setrecursionlimit(100 * max(DEPTHS))
    f, x, times = nested(depth), 0.7, max(1, max(DEPTHS) // depth)
    gradient = make_jaxpr(grad(f))(x)
    todo: dict[str, Callable[[], Any]] = {
        "make_jaxpr": lambda: make_jaxpr(f)(x),
        "make_jaxpr(jvp)": lambda: make_jaxpr(lambda x: jvp(f, (x,), (x,)))(x),
        "make_jaxpr(grad)": lambda: make_jaxpr(grad(f))(x),
        "print, then parse": lambda: parse_jaxpr(str(gradient)),
    }
    result = {}
    for name, stage in todo.items():
        total = 0.0
        for _ in range(times):
            clear_caches()
            gc.collect()
            start = time.process_time()
            stage()
            total += time.process_time() - start
        result[name] = total / times / depth * 1e3
    result["operands and results of make_jaxpr(grad)"] = size(gradient.jaxpr) / depth
    return result


def stages(equations: int) -> dict[str, Callable[[], Any]]:
    """Returns the measured stages, in order."""
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
            gc.collect()  # garbage of earlier calls must not count
            start = time.process_time()
            stage()
            total += time.process_time() - start
        result[name] = total / times / equations * 1e6
    result["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def measure_memory(equations: int, names: Collection[str]) -> dict[str, float]:
    """Returns the peak of bytes that Python and NumPy allocate in each stage, beyond those allocated before."""
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
    options = [*["--memory"] * memory, *["--uncollected"] * (not collected)]
    subprocess.run([sys.executable, "-c", f"bytearray(b'1') * {TOUCHED}"], check=True)
    result: dict[str, float] = json.loads(run("--size", str(equations), "--stages", *names, *options))
    return result


def run(*options: str) -> str:
    """Returns the output of this command, run in a new process."""
    command = [sys.executable, "-m", "benchmarks.growth", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(unit: str, results: dict[str, dict[str, float]]) -> str:
    """Returns the Markdown table of all sizes."""
    lines = [f"| {unit} | {' | '.join(results)} |", "|---|" + "---:|" * len(results)]
    for name in next(iter(results.values())):
        digits = 0 if name.startswith(("peak", "operands")) else 1
        lines.append(f"| {name} | {' | '.join(f'{result[name]:.{digits}f}' for result in results.values())} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, help="measure one size and print JSON")
    parser.add_argument("--depth", type=int, help="measure one depth of conds and print JSON")
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
    if options.depth:
        print(json.dumps(measure_nested(options.depth)))
        return
    from rich.progress import track

    runs = [(f"{size:,}", size, True) for size in SIZES] + [(f"{SIZES[-1]:,}, no collector", SIZES[-1], False)]
    results = {title: measure_alone(size, collected=collected) for title, size, collected in track(runs, "measuring")}
    conds = {
        f"{depth} conds": json.loads(run("--depth", str(depth))) for depth in track(DEPTHS, "measuring nested conds")
    }
    tables = {MARK: table("µs an equation", results), NESTED_MARK: table("ms a cond", conds)}
    page = PAGE.read_text(encoding="utf-8")
    for mark, text in tables.items():
        print(text)
        before, _, rest = page.partition(mark)
        _, _, after = rest.partition(mark)
        page = f"{before}{mark}{text}{mark}{after}"
    if options.write:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
