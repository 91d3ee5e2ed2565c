"""Lines of complex NaNs of several kinds, of which a reduction keeps one: as in NumPy, eagerly and compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.staging import jit

NAN = np.nan
KINDS = [complex(0, NAN), complex(NAN, NAN), complex(NAN, 1), complex(NAN, 0)]


def parts(x: Any) -> Any:
    x = np.asarray(x)
    return x.dtype, x.real, x.imag


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("length", [3, 599, 600])
@pytest.mark.parametrize("name", ["nanmedian", "median", "nanmax", "nanmin"])
def test_line_of_complex_nans(name: str, length: int, backend: str) -> None:
    x = np.resize(np.array(KINDS, "complex64" if length == 3 else "complex128"), (3, length))
    x[1] = np.arange(length)
    x[2, :-1] = KINDS[0]
    arrays = x, x, x.T, x[:1], x[0]
    calls = [
        partial(getattr(lnp, name), axis=axis, keepdims=keepdims)
        for axis, keepdims in ((1, False), (1, True), (0, False), (None, False), (0, False))
    ]
    compiled = jit(lambda *arrays: [call(x) for call, x in zip(calls, arrays, strict=True)], backend=backend)(*arrays)
    for call, array, result in zip(calls, arrays, compiled, strict=True):
        expected = parts(getattr(np, name)(array, **call.keywords))
        for found in (call(array), result):
            np.testing.assert_equal(parts(found), expected)
