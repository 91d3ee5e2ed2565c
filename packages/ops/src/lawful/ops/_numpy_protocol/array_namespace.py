"""The array API's namespace of tracers and device arrays: ``lawful.numpy``, which is another distribution.

It is the module with ``__array_namespace_info__`` among the entry points of the group ``lawful.numpy_functions``.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, Final

from lawful.core import ArgumentTypeError, ArgumentValueError

#: The supported versions of the standard; each includes those before it.
_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12")


@cache
def _installed() -> ModuleType | None:
    # A lazy import, because it takes as long as that of all lawful modules.
    from importlib.metadata import entry_points

    modules = (point.load() for point in entry_points(group="lawful.numpy_functions"))
    return next((module for module in modules if hasattr(module, "__array_namespace_info__")), None)


def array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """Returns the functions of the Python array API standard for this array: ``lawful.numpy``.

    Args:
      self: an array.
      api_version: the version of the standard that is needed, such as ``"2024.12"``.

    Raises:
      ArgumentValueError: it is not one of those that are supported.
      ArgumentTypeError: ``lawful-numpy`` is not installed.

    Source: https://data-apis.org/array-api/2024.12.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ArgumentValueError(
            f"__array_namespace__: expected an api_version of {', '.join(_VERSIONS)}, got {api_version!r}; "
            "ask for one of these, or for none"
        )
    found = _installed()
    if found is None:
        raise ArgumentTypeError(
            "__array_namespace__: expected an installed namespace of array functions, got none; install lawful-numpy"
        )
    return found
