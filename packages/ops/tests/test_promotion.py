"""Promotion: what the cache of promotions returns."""

import numpy as np
import pytest

from lawful.ops._fast.promotion import promotion_of


@pytest.mark.fast
def test_promotion_of_comparisons_with_integers_is_cached() -> None:
    """The promotion of a comparison with a Python integer depends on the value, but few values differ in it."""
    x = np.arange(3, dtype=np.int8)
    small = promotion_of("lt", np.less, (x, 2))
    assert promotion_of("lt", np.less, (x, 2)) is small
    assert promotion_of("lt", np.less, (x, -5)) is small
    large = promotion_of("lt", np.less, (x, 1000))
    assert large is not small
    assert promotion_of("lt", np.less, (x, 2000)) is large
    assert (small.conversions, large.conversions) == (
        ((1, np.dtype(np.int8), False),),
        ((0, np.dtype(np.int64), False), (1, np.dtype(np.int64), False)),
    )
