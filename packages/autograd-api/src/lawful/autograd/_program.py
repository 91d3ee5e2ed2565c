"""The package under the name ``autograd``, for programs that import that."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from lawful.tree.base import run_in_children

NAME = "autograd"
OURS = "lawful.autograd"


class _Alias(Loader):
    """Loads a module as the module of this package that stands for it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: Any = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which the import of the alias has overwritten
        # A later import of a submodule would overwrite a name of its package: `misc.flatten` is a function too.
        for name, loaded in [*sys.modules.items()]:
            if name.startswith(f"{OURS}."):
                sys.modules.setdefault(NAME + name[len(OURS) :], loaded)


class _AliasFinder(MetaPathFinder):
    """Finds ``autograd`` and its modules in this package."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        name = OURS + fullname[len(NAME) :]
        found = find_spec(name)
        if found is None:
            return None
        return ModuleSpec(fullname, _Alias(name), is_package=found.submodule_search_locations is not None)


def install_alias() -> None:
    """Makes ``autograd`` this package in the process and its children, for all that is imported later."""
    run_in_children(install_alias)
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
