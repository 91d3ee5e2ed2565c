"""The programs of GradBench beside JAX and Autograd, measured alternately in one process.

    uv run --group bench python -m benchmarks.gradbench                   all rows
    uv run --group bench python -m benchmarks.gradbench --quick lstm      those with a word in their name or group
    uv run --group bench python -m benchmarks.gradbench --write           puts the tables into docs/gradbench.md
    uv run --group bench python -m benchmarks.gradbench --json FILE       all samples, as JSON

A ratio is the median over rounds of lawful's time to the peer's in the same round, with its quartiles.
"""

from __future__ import annotations

from benchmarks._page import run
from benchmarks.gradbench._cases import declare

if __name__ == "__main__":
    run(__doc__, declare, "gradbench", "gradbench.md", usual=2.0, quick=0.2)
