"""The cases, in the order in which tables show them."""

from benchmarks.cases import processes, calls, chains, functions, networks, unrolled, steady  # isort: skip
from benchmarks.cases import memory, growth, backends, laws  # isort: skip

__all__ = [
    "backends",
    "calls",
    "chains",
    "functions",
    "growth",
    "laws",
    "memory",
    "networks",
    "processes",
    "steady",
    "unrolled",
]
