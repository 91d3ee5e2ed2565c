"""Random matrices for the tests of linear algebra."""

from typing import Any

import numpy as np

DTYPES = ["float32", "float64", "complex64", "complex128"]
BACKENDS = ["numpy", "xla"]


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = "float64") -> list[Any]:
    rng = np.random.default_rng(seed)
    parts = [(rng.normal(size=shape), rng.normal(size=shape)) for shape in shapes]
    return [(x + 1j * y if np.dtype(dtype).kind == "c" else x).astype(dtype) for x, y in parts]
