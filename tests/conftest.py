"""Programs compile cheaply where XLA is not the subject of the tests."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from lawful.staging import clear_caches
from lawful.xla_backend._runtime.executables import set_platform_options

#: XLA's passes over HLO are the same, and so is all that lawful writes for them; LLVM optimizes less. Compiling 66
#: programs of linear algebra takes 8 s of processor time, not 14 s.
CHEAP: Final = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
FOLDERS: Final = {
    *("array_api", "autograd_agreement", "bad_input", "calls", "collectives", "derivatives", "effects", "faults"),
    *("jax_agreement", "jax_api", "laws", "laws_systems", "loops", "numpy_code", "own_primitive", "scipy_agreement"),
    *("taylor", "examples/gradbench"),
}
#: Files of these folders on the numbers that XLA computes.
FULL: Final = {
    *("derivatives/test_extreme_matrices.py", "derivatives/special/test_special_functions.py"),
    "jax_agreement/test_special.py",
    "numpy_code/test_every_function.py",
    *("laws/primitives/test_edges.py", "laws/test_evaluation.py", "laws/primitives/test_primitives.py"),
}
ROOT: Final = Path(__file__).parent

_in_use: list[dict[str, Any]] = [{}]


@cache
def options_of(path: Path) -> dict[str, Any]:
    """Returns the flags of XLA for the tests of a file."""
    if not path.is_relative_to(ROOT):
        return {}
    relative = path.relative_to(ROOT)
    is_cheap = bool(FOLDERS & {relative.parts[0], relative.parent.as_posix()})
    return CHEAP if is_cheap and relative.as_posix() not in FULL else {}


def use(options: dict[str, Any]) -> None:
    """Compiles with these flags from now on; nothing that is compiled with others is left."""
    if options != _in_use[0]:
        _in_use[0] = options
        clear_caches()
        set_platform_options("cpu", options)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    use(options_of(item.path))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    use(options_of(nextitem.path) if nextitem else {})
