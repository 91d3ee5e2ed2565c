"""The cases: modules that declare them, which a process that is measured imports one by one."""

from importlib import import_module

_IN_ORDER = (
    *("processes", "calls", "chains", "functions", "networks", "unrolled", "draws", "steady"),
    *("memory", "growth", "backends", "laws"),
)


def declare() -> None:
    """Declares all cases, in the order in which tables show them."""
    for module in _IN_ORDER:
        import_module(f"{__name__}.{module}")
