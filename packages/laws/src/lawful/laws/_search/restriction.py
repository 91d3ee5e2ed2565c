"""The programs that a system can run: over functions that it has, with the same meaning as in lawful."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import kind
from lawful.laws._law.implementation import Implementation
from lawful.laws._programs.catalogue import catalogue_for
from lawful.laws._programs.form import forms_of, forms_of_one_device
from lawful.laws._search.generation import Generation

# Only these dtypes promote alike in all systems.
_COMMON_DTYPES = tuple(map(np.dtype, ("float64", "int64", "bool", "complex128")))


def generation_for(*systems: Implementation, **changes: Any) -> Generation:
    """Returns the settings of programs that all of some systems can run.

    For lawful these are all programs. For another system they are of 64 bits, since other dtypes promote otherwise
    there, name only what it has and does not exclude, and have no Python numbers as inputs where it lacks weak types.

    Args:
      systems: the systems.
      changes: attributes of :class:`Generation`; of ``dtypes`` and ``forms`` those are taken that the systems have.

    >>> from lawful.laws.systems import lawful
    >>> generation_for(lawful, max_equations=3).max_equations
    3
    """
    catalogue = catalogue_for(*systems)
    if catalogue.bind:
        return Generation(**changes)
    absent = {capability for system in systems for capability in system.absent}
    wanted = [dtype for dtype in changes.pop("dtypes", Generation().dtypes) if dtype in _COMMON_DTYPES]
    forms_wanted = changes.pop("forms", forms_of_one_device())
    restricted: dict[str, Any] = {
        "dtypes": tuple([dtype for dtype in wanted if kind(dtype) != "c" or "complex" not in absent]),
        "weak": changes.pop("weak", True) and "weak types" not in absent,
        "backend": None,
        "catalogue": catalogue,
        "forms": tuple([name for name in forms_wanted if all([name in forms_of(system) for system in systems])]),
    }
    return Generation(**restricted | changes)
