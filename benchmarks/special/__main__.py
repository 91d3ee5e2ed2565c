"""Special functions and linear algebra beside JAX, SciPy, NumPy and Autograd, measured alternately in one process.

    uv run --group bench python -m benchmarks.special                   all rows
    uv run --group bench python -m benchmarks.special --quick digamma   those with a word in their name or group
    uv run --group bench python -m benchmarks.special --write           puts the tables into docs/performance_special.md
    uv run --group bench python -m benchmarks.special --json FILE       all samples, as JSON

A ratio is the median over rounds of lawful's time to the peer's in the same round, with its quartiles.
"""

from __future__ import annotations

from benchmarks._page import run
from benchmarks.special._cases import declare

if __name__ == "__main__":
    run(__doc__, declare, "special", "performance_special.md", usual=1.0, quick=0.1)
