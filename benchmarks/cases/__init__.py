"""The cases, in the order in which tables show them."""

from benchmarks.cases import processes, calls, chains, unrolled, networks, steady, memory, backends  # isort: skip

__all__ = ["backends", "calls", "chains", "memory", "networks", "processes", "steady", "unrolled"]
