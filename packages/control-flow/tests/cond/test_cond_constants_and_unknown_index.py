"""Similar constants of branches stay separate; partial evaluation with an unknown index records the cond."""

import numpy as np

from lawful.control_flow import cond, switch
from lawful.core import eval_closed_jaxpr
from lawful.ops import add, convert_element_type
from lawful.staging import make_jaxpr, partial_eval_jaxpr


def test_cond_equal_constants_of_one_branch():
    a, b = np.arange(3.0), np.arange(3.0)
    out = cond(True, lambda x: x * a + b, lambda x: x, np.full(3, 2.0))
    np.testing.assert_array_equal(out, [0.0, 3.0, 6.0])


def test_cond_constants_with_equal_bytes_and_other_dtype():
    floats = np.array([1.0, 2.0])
    integers = floats.view(np.int64)

    def use_floats(x):
        return add(x, floats)

    def use_integers(x):
        return add(x, convert_element_type(integers, np.float64))

    for pred in (True, False):
        np.testing.assert_array_equal(
            cond(pred, use_floats, use_integers, np.zeros(2)), floats if pred else integers.astype(np.float64)
        )


def test_cond_partial_eval_with_unknown_index():
    closed = make_jaxpr(lambda i, x: switch(i, [lambda x: x * 2.0, lambda x: x + 5.0], x))(0, np.float64(1.0))
    split = partial_eval_jaxpr(closed, (True, False))
    residuals = eval_closed_jaxpr(split.known, np.float64(3.0))
    for index, expected in ((0, 6.0), (1, 8.0)):
        assert eval_closed_jaxpr(split.unknown, *residuals, index) == [expected]
