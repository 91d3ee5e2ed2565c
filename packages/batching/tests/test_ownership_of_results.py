"""A result of `vmap` can be written into without changing an argument."""

import numpy as np

from lawful.batching import vmap


def test_a_result_shares_no_memory_with_an_argument_or_another_result():
    x = np.arange(6.0).reshape(2, 3)
    first, second = vmap(lambda row: (row, row))(x)
    first[:] = 9.0
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(second, x)
