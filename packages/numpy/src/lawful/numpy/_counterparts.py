"""What NumPy's own functions run with tracers and device arrays: those of the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
from lawful.numpy._left_out import left_out
from lawful.ops import register_numpy_functions

# Not by getattr, which would import the submodules that NumPy imports late.
_THEIRS = vars(numpy)


def register_counterparts(names: Mapping[str, Any]) -> None:
    """Registers the functions among some names for the functions of NumPy that have the same names.

    Args:
      names: names of this package, with what they are here.
    """
    pairs = ((_THEIRS.get(name), ours) for name, ours in names.items())
    register_numpy_functions(
        {theirs: ours for theirs, ours in pairs if callable(theirs) and theirs is not ours},
        left_out={_THEIRS[name]: why for name, why in left_out.items() if callable(_THEIRS.get(name))},
    )
