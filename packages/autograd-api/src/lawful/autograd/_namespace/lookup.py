"""Names of namespaces, each looked up when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from lawful.autograd._namespace.function import dispatched


def namespace_of(
    module: str,
    library: ModuleType,
    ours: str,
    submodules: Sequence[str] = (),
    instead: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the ``__getattr__`` and ``__dir__`` of a module that has the names of a library.

    Args:
      module: the name of the module.
      library: the library's module, whose functions compute where nothing is traced.
      ours: the name of lawful's module with functions of the same names, for tracers.
      submodules: the names of modules that are in ``module`` itself.
      instead: functions for tracers that stand in the place of lawful's.

    What lawful has no function for, and what is no function, is the library's own.
    """

    def lookup(name: str) -> Any:
        if name in submodules:
            return import_module(f"{module}.{name}")
        theirs = getattr(library, name, None)
        if theirs is None and not hasattr(library, name):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = theirs
        if callable(theirs) and not isinstance(theirs, type):
            counterpart = instead.get(name) or getattr(import_module(ours), name, None)
            found = theirs if counterpart is None else dispatched(name, theirs, counterpart)
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *dir(library), *submodules})

    return lookup, names


def values_only(module: str, library: ModuleType) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the ``__getattr__`` and ``__dir__`` of a module with the names of a library, whose functions get values.

    Args:
      module: the name of the module.
      library: the library's module.
    """

    def lookup(name: str) -> Any:
        try:
            return getattr(library, name)
        except AttributeError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return lookup, lambda: sorted({*vars(sys.modules[module]), *dir(library)})
