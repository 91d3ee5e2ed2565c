"""Packages of which a part is imported when something of it is first asked for.

To import all ops and all of NumPy's names takes longer than to trace, differentiate and compile a network, which uses
a fifth of them. What most programs use is imported with its package; the rest comes, all of it, when a name is asked
for that the package has not, a primitive that is not known, or a function of NumPy that nothing stands for.

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

#: Makes contexts that each lazy import runs in: `lawful.core` evaluates in them, whatever transformation is running.
around_imports: Final[list[Callable[[], AbstractContextManager[object]]]] = []

#: The parts of packages that are not imported yet.
_waiting: Final[list[_Rest]] = []


def on_demand(
    package: str, *modules: str, missing: Callable[[str], AttributeError] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the ``__getattr__`` and the ``__dir__`` of a package that imports some of its modules on demand.

    Args:
      package: its name.
      modules: those of its modules that have its other names. Which names these are, says the package's ``__all__``;
        where it has none, it gets that of the first module.
      missing: the error for a name that none of them has; by default Python's own.
    """
    rest = _Rest(package, modules, missing)
    _waiting.append(rest)
    return rest.attribute, rest.names


def load_on_demand() -> None:
    """Imports the rest of each package that is imported."""
    tried: list[_Rest] = []
    # What comes may import other packages.
    while rests := [rest for rest in _waiting if rest not in tried and not rest.is_loading_here()]:
        for rest in rests:
            rest.load()
        tried += rests


class _Rest:
    def __init__(self, package: str, modules: Sequence[str], missing: Callable[[str], AttributeError] | None) -> None:
        self._package = package
        self._modules = modules
        self._missing = missing
        # There is no lock: a thread that holds one would wait for modules that others import, and they for it.
        self._loading: set[int] = set()

    def is_loading_here(self) -> bool:
        """Whether this thread imports the modules now."""
        return get_ident() in self._loading

    def load(self) -> None:
        """Imports the modules, whatever transformation runs, and puts their names into the package."""
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
            return  # somebody imports the module by its name, and it is not done
        public: Sequence[str] = found.setdefault("__all__", defined.get("__all__", ()))
        found.update({name: defined[name] for name in public if name not in found and name in defined})
        with suppress(ValueError):  # another thread was first
            _waiting.remove(self)

    def attribute(self, name: str) -> Any:
        """Returns a name of the package that is not there yet."""
        package = sys.modules[self._package]
        # Python looks for a module as a name first, also for those that are being imported here.
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
