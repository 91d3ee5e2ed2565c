"""`cond_p` accepts any index: a negative one takes the first branch, one that is too large the last."""

import numpy as np
import pytest

from lawful.control_flow import cond_p
from lawful.staging import jit, make_jaxpr

BRANCHES = tuple(make_jaxpr(lambda x, i=i: x + i)(np.float64(0.0)) for i in (10.0, 20.0, 30.0))


@pytest.mark.parametrize(("index", "expected"), [(-9, 10.0), (-1, 10.0), (1, 20.0), (3, 30.0), (9, 30.0)])
def test_cond_p_clamps_the_index(index, expected):
    def choose(i, x):
        return cond_p.bind(i, x, branches=BRANCHES)[0]

    assert choose(np.int32(index), np.float64(0.0)) == expected
    assert jit(choose, backend="numpy")(np.int32(index), np.float64(0.0)) == expected
