"""Comparisons of NaN are false, without a warning, in every floating dtype."""

import ml_dtypes
import numpy as np
import pytest

from lawful import ops


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float16, np.float64])
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparison_of_nan_gives_no_warning(name: str, dtype: type) -> None:
    function, nan, one = getattr(ops, name), np.array([np.nan, 1.0], dtype), np.array(1.0, dtype)
    for x, y in ((nan, one), (one, nan), (nan, 1.0)):
        found = function(x, y)
        assert found[0] == (name == "ne")
        assert found[1] == (name in ("le", "ge", "eq"))
