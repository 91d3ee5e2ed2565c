"""Compiled, sorting and windows put NaNs and zeros of both signs where NumPy puts them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.staging import jit

KEYS = np.array([-0.0, 3.0, np.nan, 0.0, -np.nan, -np.inf, np.nan, -0.0, 0.0])
PLACES = np.arange(9.0)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sort": lambda x, t: ops.sort((x, t)),
    "sort by two": lambda x, t: ops.sort((x, x[::-1], t), num_keys=2),
    "sort complex": lambda x, t: ops.sort((ops.complex(x, x[::-1]), t)),
    "top_k": lambda x, t: ops.top_k(x, 7),
    "top_k along the first": lambda x, t: ops.top_k(ops.reshape(x, (3, 3)), 2, axis=0),
    "largest in windows": lambda x, t: ops.select_and_gather_add(t, x, "ge", (3,)),
    "smallest in windows": lambda x, t: ops.select_and_gather_add(t, x, "le", (3,), padding="SAME"),
    "back from windows": lambda x, t: ops.select_and_scatter_add(t, x, "ge", (3,), padding="SAME"),
    "window_max": lambda x, t: ops.reduce_window_max(x, (2,), base_dilation=(2,)),
    "cumlogsumexp": lambda x, t: ops.cumlogsumexp(ops.sort(x)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_sort_compiled_is_eager(name: str, dtype: str):
    x = ops.convert_element_type(KEYS, dtype)
    if "complex" in name and dtype.endswith("16"):
        return
    expected = CALLS[name](x, PLACES)
    found = jit(CALLS[name], backend="xla")(x, PLACES)
    for a, b in zip(*[y if isinstance(y, tuple) else (y,) for y in (found, expected)], strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        wide = "complex128" if a.dtype.kind == "c" else "float64"
        np.testing.assert_array_equal(a.astype(wide), b.astype(wide))
        if a.dtype.kind == "f":
            known = a == a
            np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))
