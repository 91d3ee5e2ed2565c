"""Ufuncs of libraries other than NumPy, such as ``scipy.special.gammaln``, which NumPy hands over to tracers too.

A ufunc has a name, but not that of its library. So it is a library's if the library, where a program has imported it,
has it under a name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["register_ufuncs"]

Function = Callable[..., Any]

_counterparts: dict[str, list[str]] = {}
#: The functions that were looked for.
found: dict[Function, Function] = {}


def register_ufuncs(library: str, ours: str) -> None:
    """Makes the ufuncs of a library run functions of the same names where an argument is a tracer or a device array.

    Args:
      library: the name of a module with ufuncs, such as ``"scipy.special"``; it is not imported.
      ours: the name of the module that has the functions. It is imported when one is looked for; of several modules
        the one that was registered last is asked first.

    >>> register_ufuncs("sensors.ufuncs", "sensors.of_tracers")
    """
    modules = _counterparts.setdefault(library, [])
    if ours not in modules:
        modules.insert(0, ours)
        found.clear()


def owner(ufunc: np.ufunc) -> tuple[str, list[str]] | None:
    """Returns the library of a ufunc, and the names of the ufunc there; None for NumPy's and unknown ones."""
    for library in _counterparts:
        if library in sys.modules:
            names = [name for name, value in vars(sys.modules[library]).items() if value is ufunc]
            if names:
                return library, names
    return None


def counterpart(ufunc: np.ufunc) -> Function | None:
    """Returns the function that a module has for a ufunc of a library."""
    owned = owner(ufunc)
    if owned is None:
        return None
    library, names = owned
    for module in map(import_module, _counterparts[library]):
        for name in names:
            function = getattr(module, name, None)
            if function is not None and not isinstance(function, np.ufunc):
                found[ufunc] = function
                return function  # type: ignore[no-any-return]
    return None
