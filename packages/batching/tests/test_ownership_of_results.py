"""A result of `vmap` can be written into without changing an argument."""

import numpy as np

from lawful.batching import vmap


def test_vmap_results_share_no_memory():
    """Writing into a result changes no argument and no other result."""
    x = np.arange(6.0).reshape(2, 3)
    first, second = vmap(lambda row: (row, row))(x)
    first[:] = 9.0
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(second, x)
