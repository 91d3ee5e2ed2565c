"""``jax`` standing for ``lawful.jax`` in this process."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from lawful.jax._support.namespaces.absent_modules import why_absent
from lawful.tree.base import run_in_children


class _Finder(MetaPathFinder, Loader):
    """Finds the modules of ``lawful.jax`` under the names of JAX's."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "jax":  # lawful.xla_backend imports modules of jaxlib when it first needs them
            return None
        ours = f"lawful.{name}"
        if ours not in sys.modules and importlib.util.find_spec(ours) is None:
            advice = why_absent(name) or "docs/coming_from_jax.md lists what there is"
            raise ModuleNotFoundError(
                f"import {name}: expected a public module of JAX that lawful.jax has, got another; {advice}",
                name=name,
            )
        return ModuleSpec(name, self, is_package=hasattr(importlib.import_module(ours), "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"lawful.{spec.name}")
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own


def install() -> None:
    """Makes ``import jax`` import ``lawful.jax`` from here on, also in child processes of ``multiprocessing``.

    Raises:
      RuntimeError: JAX is imported already.
    """
    if "jax" in sys.modules and sys.modules["jax"].__name__ != "lawful.jax":
        raise RuntimeError("lawful.jax: expected to come before JAX, got JAX imported already; install first")
    run_in_children(install)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
