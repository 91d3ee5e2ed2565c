"""Modules of `lawful.jax`: each has JAX's names, found in the packages of lawful when they are first used."""

from __future__ import annotations

import dis
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, Final

from lawful.core import Primitive
from lawful.jax._support.namespaces.absent_modules import REASONS
from lawful.jax._support.namespaces.table import modules, names_of
from lawful.jax._support.namespaces.wrapping import returns_arrays
from lawful.jax._support.user_functions import gives_arrays

_NONE: Mapping[str, str] = MappingProxyType({})
#: The functions of JAX whose results are NumPy arrays.
_RETURN_NUMPY: Final = frozenset({"device_get"})


def namespace(
    module: str,
    *sources: Any,
    renamed: Mapping[str, str] = _NONE,
    submodules: tuple[str, ...] = (),
    wrap: Callable[..., Any] | None = returns_arrays,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns ``__getattr__`` and ``__dir__`` of a module that has the names of JAX's module of its name.

    Args:
      module: its name, ``__name__``.
      sources: modules of lawful that have the names, searched in this order; or names of modules, which are imported
        when the search comes to them.
      renamed: lawful's names for those that differ.
      submodules: modules in it, which are imported when they are first used.
      wrap: what makes JAX's function of a function and JAX's signature; None where they need no change.
    """
    names = names_of(module.removeprefix("lawful."))

    def find(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{module}.{name}")
        row = names.get(name)
        if row is None:
            if reason := REASONS.get(f"{module.removeprefix('lawful.')}.{name}"):
                raise absent_name(f"{module}.{name} is left out: {reason}")
            raise absent_name(f"module {module} has no attribute {name!r}, nor has JAX's")
        if row.reason:
            raise absent_name(f"{module}.{name} is left out: {row.reason}")
        for source in sources:
            if isinstance(source, str):
                source = importlib.import_module(source)
            value = getattr(source, renamed.get(name, name), None)
            if value is not None:
                break
        else:
            raise absent_name(f"module {module} has no attribute {name!r}")
        if wrap is not None and name not in _RETURN_NUMPY and _is_function(value):
            value = _named(gives_arrays(wrap(value, row.signature), name), name)
        setattr(sys.modules[module], name, value)
        return value

    def listed() -> list[str]:
        own = [name for name in vars(sys.modules[module]) if not name.startswith("_")]
        return sorted({*own, *submodules, *(name for name, row in names.items() if not row.reason)})

    return find, listed


def _is_function(x: Any) -> bool:
    return callable(x) and not inspect.isclass(x) and not isinstance(x, Primitive)


def absent_name(message: str) -> Exception:
    """Returns the error of a name that a module has not, to be raised by its ``__getattr__``.

    ``from module import name`` replaces the message of an `AttributeError` by its own; an `ImportError` keeps it.
    """
    user = sys._getframe(2)
    by_import = dis.opname[user.f_code.co_code[user.f_lasti]] == "IMPORT_FROM"
    return ImportError(message) if by_import else AttributeError(message)


def _named(wrapper: Any, name: str) -> Any:
    """Names a new wrapper as JAX names its function: several names of JAX may be one function of lawful."""
    if getattr(wrapper, "__name__", name) != name:
        wrapper.__name__ = wrapper.__qualname__ = name
    return wrapper


def submodules_of(module: str, source: ModuleType) -> None:
    """Adds to a module the modules in it that JAX has, each with the names of the attribute of ``source`` of its name.

    So there is no file for each of them.
    """
    inside = module.removeprefix("lawful.") + "."
    for name in [found.removeprefix(inside) for found in modules() if found.startswith(inside)]:
        own = getattr(source, name, None)
        made = ModuleType(f"{module}.{name}", f"``{inside}{name}``." if own is None else own.__doc__)
        sys.modules[made.__name__] = made
        setattr(made, "__getattr__", namespace(made.__name__, own)[0])  # noqa: B010  # mypy knows no such attribute
        setattr(made, "__dir__", namespace(made.__name__, own)[1])  # noqa: B010
        setattr(sys.modules[module], name, made)
