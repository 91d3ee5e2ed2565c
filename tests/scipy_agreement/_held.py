"""Checks of each function: one value however it is called, and derivatives equal to finite differences."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import laws, tree
from lawful.batching import vmap
from lawful.core import get_aval
from lawful.staging import jit

RTOL = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}


def agree(found: Any, expected: Any, rtol: float | None = None) -> None:
    """Compares trees of arrays, dtypes and shapes too."""
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        assert get_aval(x).shape == get_aval(y).shape
        assert get_aval(x).dtype == get_aval(y).dtype
        dtype = get_aval(x).dtype.name
        bound = RTOL.get(dtype, 1e-11) if rtol is None else rtol
        wide = np.complex128 if "complex" in dtype else np.float64
        x, y = (np.asarray(z).astype(wide) for z in (x, y))
        scale = np.max(np.abs(y[np.isfinite(y)]), initial=1e-30)
        np.testing.assert_allclose(x, y, rtol=bound, atol=bound * scale)


def compiled(function: Callable[..., Any], args: Sequence[Any], backends: Sequence[str] = ("numpy", "xla")) -> None:
    """Compares a function with its compiled forms, and with one that is batched."""
    expected = function(*args)
    for backend in backends:
        agree(jit(function, backend=backend)(*args), expected)
    stacked = tree.map(lambda x: np.stack([x, x[..., ::-1] if np.ndim(x) else x * 1]), tuple(args))
    each = [function(*tree.map(lambda x, i=i: x[i], stacked)) for i in range(2)]
    agree(jit(vmap(function), backend="numpy")(*stacked), tree.map(lambda *xs: np.stack(xs), *each))


def held(function: Callable[..., Any], args: Sequence[Any], order: int = 2, rtol: float | None = None) -> None:
    """Compares a function with its compiled and batched forms, and its derivatives with finite differences."""
    compiled(function, args)
    laws.check_grads(function, tuple(args), order, rtol=rtol)
