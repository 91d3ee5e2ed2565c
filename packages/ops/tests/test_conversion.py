"""What conversion gives the NumPy backend to call is conversion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lawful.core import ShapedArray
from lawful.ops import convert_element_type_p

VALUES = (0.0, -0.0, 1.5, -2.75, 0.1, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan)
DTYPES = ("float16", "float32", "float64", "int32", "complex64", "bool")


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("new", DTYPES)
@pytest.mark.parametrize("old", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_what_numpy_is_given_is_conversion(shape: Any, old: str, new: str, weak: bool) -> None:
    """In silence: a warning is an error here."""
    if weak and shape:
        return  # what is weak is a scalar
    params = {"new_dtype": np.dtype(new), "weak_type": weak}
    rules = convert_element_type_p.rules
    function = rules["numpy"]([ShapedArray(shape, old)], None, **params)
    for value in VALUES:
        with np.errstate(all="ignore"):
            x = np.full(shape, value).astype(old)[()]
        for given in (x, np.asarray(x), x.item() if not shape else x):
            got, expected = function(given), rules["impl"](given, **params)
            assert type(got) is type(expected)
            assert repr(got) == repr(expected)
