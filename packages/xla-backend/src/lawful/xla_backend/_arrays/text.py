"""The text of an Array, in NumPy's layout."""

from __future__ import annotations

from typing import Any

import numpy as np


def array_text(values: np.ndarray[Any, Any], weak_type: bool) -> str:
    """Returns the ``repr`` of an Array with these values."""
    body = np.array2string(values, separator=", ", prefix="Array(", suffix=",")
    facts = [f"dtype={values.dtype}"]
    if values.size == 0 and values.shape != (0,):
        facts.insert(0, f"shape={values.shape}")
    if weak_type:
        facts.append("weak_type=True")
    # The dtype starts a new line where NumPy's repr would.
    last_line = len(body.rpartition("\n")[2]) + (0 if "\n" in body else len("Array("))
    tail = ", ".join(facts) + ")"
    fits = last_line + len(tail) + 2 <= np.get_printoptions()["linewidth"]
    return f"Array({body},{' ' if fits else chr(10) + ' ' * len('Array(')}{tail}"
