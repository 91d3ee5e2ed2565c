"""Tolerances: how far apart two computations of one value may be, in one table by dtype for all laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful.core import as_dtype


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Bounds on the difference of two arrays, relative to one plus their largest element.

    Attributes:
      rounding: between computations that differ in the order of operations.
      differences: between a derivative and finite differences.

    >>> tolerances[np.dtype(np.float64)]
    Tolerance(rounding=1e-09, differences=1e-06)
    """

    rounding: float
    differences: float


tolerances: Final[dict[np.dtype[Any], Tolerance]] = {
    np.dtype(np.float64): Tolerance(1e-9, 1e-6),
    np.dtype(np.complex128): Tolerance(1e-9, 1e-6),
    np.dtype(np.float32): Tolerance(1e-4, 1e-1),
    np.dtype(np.complex64): Tolerance(1e-4, 1e-1),
    np.dtype(np.float16): Tolerance(2e-2, 1.0),
    as_dtype("bfloat16"): Tolerance(1e-1, 1.0),
    as_dtype("float8_e4m3fn"): Tolerance(3e-1, 1.0),
    as_dtype("float8_e5m2"): Tolerance(5e-1, 1.0),
    as_dtype("float8_e4m3b11fnuz"): Tolerance(3e-1, 1.0),
    as_dtype("float8_e4m3fnuz"): Tolerance(3e-1, 1.0),
    as_dtype("float8_e5m2fnuz"): Tolerance(5e-1, 1.0),
}
