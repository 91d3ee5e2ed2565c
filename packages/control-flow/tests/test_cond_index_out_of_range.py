"""The primitive takes any index: one below the branches is the first, one above them the last."""

import numpy as np
import pytest

from lawful.control_flow import cond_p
from lawful.staging import jit, make_jaxpr

BRANCHES = tuple(make_jaxpr(lambda x, i=i: x + i)(np.float64(0.0)) for i in (10.0, 20.0, 30.0))


@pytest.mark.parametrize(("index", "expected"), [(-9, 10.0), (-1, 10.0), (1, 20.0), (3, 30.0), (9, 30.0)])
def test_an_index_out_of_range_is_limited(index, expected):
    def choose(i, x):
        return cond_p.bind(i, x, branches=BRANCHES)[0]

    assert choose(np.int32(index), np.float64(0.0)) == expected
    assert jit(choose, backend="numpy")(np.int32(index), np.float64(0.0)) == expected
