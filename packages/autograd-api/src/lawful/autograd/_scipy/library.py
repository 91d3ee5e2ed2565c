"""SciPy, where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from lawful.autograd._namespace.errors import raising
from lawful.autograd._namespace.function import dispatched
from lawful.core import Hook

Function = Callable[..., Any]

#: SciPy's modules and objects whose functions raise errors about values, such as that of a singular matrix.
_REFUSING: Final = ("linalg", "stats.multivariate_normal")

#: What was looked up, by SciPy's name of a module and the attribute. A program may load a module's file under another
#: name, and finds the same functions in it, with the rules that users define.
_looked_up: Final[dict[tuple[str, str], Any]] = {}


def scipy_module(name: str) -> ModuleType | None:
    """Returns a module of SciPy, such as ``"special"``; None if SciPy is not installed."""
    return None if find_spec("scipy") is None else import_module(f"scipy.{name}")


def scipy_function(module: str, name: str, doc: str = "") -> Function:
    """Returns a function that is SciPy's, which is imported when the function is first called.

    Args:
      module: the module of SciPy's.
      name: the name of the function there.
      doc: the docstring.

    Raises:
      ImportError: when it is called, SciPy is not installed.
    """
    found: Function | None = None

    def function(*args: Any, **kwargs: Any) -> Any:
        nonlocal found
        if found is None:
            library = scipy_module(module)
            if library is None:
                raise ImportError(
                    f"scipy.{module}.{name}: expected SciPy to be installed, which computes it; install scipy"
                )
            found = getattr(library, name)
        return found(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def of_tracers(name: str, theirs: Function, ours: Function) -> Function:
    """Returns a function for tracers: lawful's, or its accelerator."""

    @wraps(ours, updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        return library_hook.use(name, theirs, ours, args, kwargs)

    return function


def _ours(name: str, theirs: Function, ours: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return ours(*args, **kwargs)


#: Applies a function to tracers: given its name, NumPy's or SciPy's function, lawful's, and the arguments.
library_hook: Final[Hook[Callable[..., Any]]] = Hook("functions of NumPy and SciPy", _ours)


def scipy_namespace(
    module: str, name: str, own: Mapping[str, Any], ours: str | Mapping[str, Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns the ``__getattr__`` and ``__dir__`` of a module that has the names of a module or object of SciPy.

    Args:
      module: the name of the module.
      name: the name of SciPy's, such as ``"special"`` or ``"stats.norm"``.
      own: names that are neither lawful's nor SciPy's as they are.
      ours: lawful's module with functions of the same names, or a mapping of them. They compute what is traced, and
        where SciPy is not installed also values.
    """
    counterparts: Any = ours if isinstance(ours, Mapping) else None

    def library() -> Any:
        if find_spec("scipy") is None:
            return None
        outer, _, inner = name.partition(".")
        found: Any = scipy_module(outer)
        return getattr(found, inner) if inner else found

    def counterpart_of(attribute: str) -> Any:
        if counterparts is not None:
            return counterparts.get(attribute)
        return None if ours is None else getattr(import_module(str(ours)), attribute, None)

    def lookup(attribute: str) -> Any:
        if (name, attribute) not in _looked_up:
            _looked_up[name, attribute] = _found(attribute)
        found = _looked_up[name, attribute]
        setattr(sys.modules[module], attribute, found)
        return found

    def _found(attribute: str) -> Any:
        counterpart = own.get(attribute) or counterpart_of(attribute)
        if hasattr(counterpart, "own_rules"):
            return counterpart  # which computes values by SciPy's function
        theirs = None if attribute[0] == "_" else getattr(library(), attribute, None)
        if isinstance(theirs, ModuleType) or (theirs is None and counterpart is None) or attribute[0] == "_":
            raise AttributeError(f"module {module!r} has no attribute {attribute!r}")
        if counterpart is None or not callable(counterpart):
            return theirs
        if theirs is not None and name == "special":
            counterpart = of_tracers(attribute, theirs, counterpart)
        if theirs is not None and name in _REFUSING:
            counterpart = raising(theirs, counterpart)
        return dispatched(attribute, theirs or counterpart, counterpart)

    def names() -> list[str]:
        theirs = library()
        listed = [] if theirs is None else getattr(theirs, "__all__", dir(theirs))
        lawfuls = counterparts or (() if ours is None else getattr(import_module(str(ours)), "__all__", ()))
        return sorted({*vars(sys.modules[module]), *own, *listed, *lawfuls})

    return lookup, names
