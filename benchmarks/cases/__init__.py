"""The cases, in the order in which tables show them."""

from benchmarks.cases import processes, calls, chains, networks, unrolled, steady, memory, growth, backends, laws  # isort: skip

__all__ = ["backends", "calls", "chains", "growth", "laws", "memory", "networks", "processes", "steady", "unrolled"]
