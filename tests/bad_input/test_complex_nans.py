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
    for array, axis, keepdims in ((x, 1, False), (x, 1, True), (x.T, 0, False), (x[:1], None, False), (x[0], 0, False)):
        expected = parts(getattr(np, name)(array, axis=axis, keepdims=keepdims))
        call = partial(getattr(lnp, name), axis=axis, keepdims=keepdims)
        for found in (call(array), jit(call, backend=backend)(array)):
            np.testing.assert_equal(parts(found), expected)
