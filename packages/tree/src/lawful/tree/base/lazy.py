"""Lazy imports: packages that import some of their modules when a name of one is first used.

Importing all ops and all of NumPy's names takes longer than to trace, differentiate and compile a network, which uses a
fifth of them. A package imports eagerly what most programs use. All other modules are imported together, when a program
uses a name that the package lacks, an unknown primitive, or a NumPy function without an implementation.

Source: PEP 562, https://peps.python.org/pep-0562
"""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib import import_module
from threading import get_ident
from typing import Any, Final

#: Returns contexts in which each lazy import runs: `lawful.core` evaluates there, whatever transformation is running.
around_imports: Final[list[Callable[[], AbstractContextManager[object]]]] = []

#: Lazy imports that have not run yet.
_pending: Final[list[_LazyImport]] = []


def lazy_imports(
    package: str, *modules: str, missing: Callable[[str], AttributeError] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the ``__getattr__`` and the ``__dir__`` of a package that imports some of its modules lazily.

    Args:
      package: its name.
      modules: the modules to import. Their public names are in the package's ``__all__``, or else in that of the first
      module.
      missing: returns the error for a name that none of them has; by default Python's own.

    >>> import json
    >>> attribute, names = lazy_imports("json", "tool")
    >>> "loads" in names()
    True
    """
    lazy = _LazyImport(package, modules, missing)
    _pending.append(lazy)
    return lazy.attribute, lazy.names


def load_lazy_imports() -> None:
    """Runs all lazy imports of the packages imported so far.

    >>> load_lazy_imports()
    """
    tried: list[_LazyImport] = []
    # An imported module may import other packages.
    while pending := [each for each in _pending if each not in tried and not each.is_loading_here()]:
        for each in pending:
            each.load()
        tried += pending


class _LazyImport:
    def __init__(self, package: str, modules: Sequence[str], missing: Callable[[str], AttributeError] | None) -> None:
        self._package = package
        self._modules = modules
        self._missing = missing
        # No lock: two threads could each hold one and wait for the other's import.
        self._loading: set[int] = set()

    def is_loading_here(self) -> bool:
        """Whether this thread imports the modules now."""
        return get_ident() in self._loading

    def load(self) -> None:
        """Imports the modules, outside of any transformation, and adds their names to the package."""
        package = sys.modules[self._package]
        self._loading.add(get_ident())
        try:
            with ExitStack() as contexts:
                for context in around_imports:
                    contexts.enter_context(context())
                loaded = [import_module(f"{self._package}.{module}") for module in self._modules]
        finally:
            self._loading.discard(get_ident())
        found = vars(package)
        defined = ChainMap(*map(vars, loaded))
        if "__all__" not in found and "__all__" not in defined:
            return  # another import of the module is in progress
        public: Sequence[str] = found.setdefault("__all__", defined.get("__all__", ()))
        found.update({name: defined[name] for name in public if name not in found and name in defined})
        with suppress(ValueError):  # another thread was first
            _pending.remove(self)

    def attribute(self, name: str) -> Any:
        """Returns a name that the package does not have yet."""
        package = sys.modules[self._package]
        # The import system looks up submodules as attributes, also of a package that this thread is importing.
        if not self.is_loading_here() and (name == "__all__" or not name.startswith("_")):
            self.load()
            if name in vars(package):
                return vars(package)[name]
        if self._missing is not None:
            raise self._missing(name)
        raise AttributeError(f"module '{self._package}' has no attribute '{name}'", name=name, obj=package)

    def names(self) -> list[str]:
        """Returns all names of the package."""
        self.load()
        return sorted(vars(sys.modules[self._package]))
