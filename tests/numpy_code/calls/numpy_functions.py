"""The calls of every function, which stand with the tests of `lawful.numpy` and are made in more ways here."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

import lawful.numpy as lnp

FOLDER = Path(__file__).parents[3] / "packages/numpy/tests/calls"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "calls_of_lawful_numpy", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_calls = _load()
Case = _calls.Case
table = _calls.table
#: Calls that NumPy refuses, of functions and of operators: each with its argument.
mistakes = _calls.mistakes
operators = _calls.OPERATORS


class Names:
    """A module that notes which functions of it and of its modules are used."""

    def __init__(self, module: ModuleType, prefix: str = "", used: set[str] | None = None) -> None:
        self._module, self._prefix = module, prefix
        self.used: set[str] = set() if used is None else used

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, ModuleType):
            return Names(value, f"{name}.", self.used)
        self.used.add(self._prefix + name)
        return value


def function_of(module: ModuleType, name: str) -> Any:
    """Returns a function by a name such as ``"linalg.det"``."""
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _shared(theirs: ModuleType, ours: ModuleType, prefix: str = "") -> list[str]:
    functions = {name: getattr(theirs, name, None) for name in ours.__all__}
    return [prefix + name for name, x in functions.items() if callable(x) and not isinstance(getattr(ours, name), type)]


#: The functions that NumPy and lawful both have.
shared = [
    *_shared(numpy, lnp),
    *_shared(numpy.linalg, lnp.linalg, "linalg."),
    *_shared(numpy.fft, lnp.fft, "fft."),
]


def functions_used(entry: Any) -> set[str]:
    """Returns the names of the functions that a call uses."""
    names = Names(lnp)
    entry.call(names, *entry.args)
    return names.used


def calls_by_function(seed: int) -> dict[str, dict[str, Any]]:
    """Returns for each function the calls that use it, by what they are about."""
    found: dict[str, dict[str, Any]] = {name: {} for name in shared}
    for subject, entry in table(seed).items():
        for name in functions_used(entry) & found.keys():
            found[name][subject] = entry
    return found
