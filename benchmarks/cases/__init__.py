"""The cases: one module for each group, imported one by one by the measured processes."""

from importlib import import_module

_IN_ORDER = (
    *("processes", "calls", "chains", "functions", "networks", "extensions", "unrolled", "draws", "steady"),
    *("memory", "growth", "backends", "laws"),
)


def declare() -> None:
    """Declares all cases, in the order of the tables."""
    for module in _IN_ORDER:
        import_module(f"{__name__}.{module}")
