"""The inspection API of the Python array API standard: capabilities, devices and dtypes of the namespace."""

from __future__ import annotations

from typing import Any, Final

import numpy
from lawful.core import ArgumentValueError, check_device, current
from lawful.numpy._dtypes import isdtype

#: The version of the standard that the namespace implements.
ARRAY_API_VERSION: Final = "2024.12"

# The dtypes of the standard; lawful has more.
_DTYPES: Final = {
    name: numpy.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    )
}


class ArrayNamespaceInfo:
    """Capabilities, devices and dtypes of the namespace.

    Source: https://data-apis.org/array-api/2024.12/API_specification/inspection.html.
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Returns whether results may have shapes that depend on values, and the largest number of dimensions.

        They may not where a program is recorded, as under ``jit``, because values are not known then.

        >>> ArrayNamespaceInfo().capabilities()
        {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 64}
        """
        are_known = current.trace.evaluates_constants
        return {"boolean indexing": are_known, "data-dependent shapes": are_known, "max dimensions": 64}

    def default_device(self) -> str:
        """Returns the device of new arrays if none is given."""
        return "cpu"

    def devices(self) -> list[str]:
        """Returns the devices; functions also take those of an installed backend, which it lists itself."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Returns the default dtypes of results, by kind.

        Args:
          device: any.

        Raises:
          ArgumentValueError: there is no such device.

        >>> ArrayNamespaceInfo().default_dtypes()["integral"]
        dtype('int64')
        """
        check_device("default_dtypes", device)
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: _DTYPES[name] for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Returns the dtypes of the standard by their names.

        Args:
          device: any.
          kind: which of them, as in `isdtype`; all by default.

        Raises:
          ArgumentValueError: there is no such device or kind.

        >>> list(ArrayNamespaceInfo().dtypes(kind="real floating"))
        ['float32', 'float64']
        """
        check_device("dtypes", device)
        if kind is None:
            return dict(_DTYPES)
        for one in kind if isinstance(kind, tuple) else (kind,):
            if not isinstance(one, str):
                raise ArgumentValueError(f"dtypes: expected the name of a kind, or a tuple of names, got {kind!r}")
        return {name: dtype for name, dtype in _DTYPES.items() if isdtype(dtype, kind)}
