"""Comparisons of NaN are false, without a warning, in every floating dtype."""

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import get_aval

NAMES = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
NAMES |= {"eq": np.equal, "ne": np.not_equal}


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float16, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_comparison_of_nan_gives_no_warning(name: str, dtype: type) -> None:
    function, nan, one = getattr(ops, name), np.array([np.nan, 1.0], dtype), np.array(1.0, dtype)
    specialised = function.primitive.rule("numpy")([get_aval(nan), get_aval(one)], None)
    for found in (function(nan, one), function(one, nan), function(nan, 1.0), specialised(nan, one)):
        assert found[0] == (name == "ne")
        assert found[1] == (name in ("le", "ge", "eq"))


@pytest.mark.parametrize("name", NAMES)
def test_comparison_is_specialised_to_numpy_ufunc(name: str) -> None:
    """The NumPy backend broadcasts and groups only what it knows as a ufunc."""
    aval = get_aval(np.ones(2))
    assert getattr(ops, name).primitive.rule("numpy")([aval, aval], None) is NAMES[name]
