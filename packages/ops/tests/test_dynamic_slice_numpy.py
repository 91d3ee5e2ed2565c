"""The functions of dynamic slices for NumPy choose the elements that their implementations choose."""

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from lawful.core import ShapedArray
from lawful.ops import dynamic_slice_p, dynamic_update_slice_p

INT64 = np.dtype(np.int64)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (0,), (2, 3), (1, 3), (3, 1), (2, 3, 4), (5, 0)])
def test_dynamic_slices_on_numpy_equal_implementations(shape: tuple[int, ...]) -> None:
    x = np.arange(float(prod(shape))).reshape(shape)
    starts_aval = [ShapedArray((), INT64)] * len(shape)
    for sizes in product(*[range(size + 1) for size in shape]):
        avals, update = [ShapedArray(shape, x.dtype), *starts_aval], np.full(sizes, -1.0)
        update_avals = [avals[0], ShapedArray(sizes, x.dtype), *starts_aval]
        read = dynamic_slice_p.rule("numpy")(avals, None, slice_sizes=sizes)
        write = dynamic_update_slice_p.rule("numpy")(update_avals, None)
        for start in product((-3, 0, 1, 2, 9), repeat=len(shape)):
            starts: list[Any] = [np.int64(i) for i in start]
            np.testing.assert_array_equal(
                read(x, *starts), dynamic_slice_p.rule("impl")(x, *starts, slice_sizes=sizes), strict=True
            )
            np.testing.assert_array_equal(
                write(x, update, *starts), dynamic_update_slice_p.rule("impl")(x, update, *starts), strict=True
            )
    np.testing.assert_array_equal(x, np.arange(float(prod(shape))).reshape(shape))
