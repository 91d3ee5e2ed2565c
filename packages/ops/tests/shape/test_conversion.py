"""Conversion of dtypes, also by the function for the NumPy backend."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lawful.core import IntegerOverflowError, ShapedArray, is_float, supported_dtypes
from lawful.ops import convert_element_type, convert_element_type_p

VALUES = (0.0, -0.0, 1.5, -2.75, 0.1, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan)
DTYPES = ("float16", "float32", "float64", "int32", "complex64", "bool")


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("new", DTYPES)
@pytest.mark.parametrize("old", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,)])
def test_convert_element_type_numpy_rule_converts(shape: Any, old: str, new: str, weak: bool) -> None:
    """The function does not warn: a warning is an error."""
    if weak and shape:
        return  # a weak value is a scalar
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


FLOATS = [dtype for dtype in supported_dtypes if is_float(dtype)]


def nearest_integer(x: float, bounds: Any) -> int:
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return bounds.max if x > 0 else bounds.min
    return min(max(int(x), bounds.min), bounds.max)


@pytest.mark.parametrize("new", [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)])
@pytest.mark.parametrize("old", FLOATS, ids=str)
def test_convert_element_type_saturates_integers(old: np.dtype[Any], new: str) -> None:
    bounds = np.iinfo(new)
    values = [*VALUES, 3.0, 300.0, -300.0, 2.0**31, -(2.0**31) - 1, 2.0**63, -(2.0**63), 2.0**64]
    with np.errstate(all="ignore"):
        x = np.array(values).astype(old)
    floats = [float(value) for value in x]
    expected = [nearest_integer(y, bounds) for y in floats]
    assert [int(y) for y in convert_element_type(x, new)] == expected
    assert [int(convert_element_type(y, new)) for y in x] == expected
    assert convert_element_type(x, new).dtype == new


def test_conversion_in_a_jaxpr_wraps_around_as_compiled() -> None:
    """A comparison with uint64 converts its other operand; the law of evaluation found that -2 did not pass."""
    found = convert_element_type_p.bind(-2, new_dtype=np.dtype(np.uint8), weak_type=False)
    assert found.dtype == np.uint8
    assert found == 254
    with pytest.raises(IntegerOverflowError):
        convert_element_type(-2, np.uint8)  # a user's mistake
