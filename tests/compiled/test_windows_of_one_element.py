"""Windows of one element with negative padding, which removes elements: XLA's own simplification of them aborts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.control_flow import reduce_window
from lawful.staging import jit

X = np.arange(12.0).reshape(3, 4) + 1
WINDOWS: dict[str, Any] = {
    "window_dimensions": (1, 1),
    "window_strides": (1, 1),
    "padding": ((-1, 0), (0, -2)),
    "base_dilation": (1, 1),
    "window_dilation": (1, 1),
}
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: ops.reduce_window_sum_p.bind(x, **WINDOWS),
    "max": lambda x: ops.reduce_window_max_p.bind(x, **WINDOWS),
    "min": lambda x: ops.reduce_window_min_p.bind(x, **WINDOWS),
    "product": lambda x: reduce_window(x, 1.0, ops.mul, **WINDOWS),
    "selected": lambda x: ops.select_and_gather_add_p.bind(x, x, select_prim="ge", **WINDOWS),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_windows_that_remove_elements_compile(name: str) -> None:
    function = REDUCTIONS[name]
    np.testing.assert_array_equal(jit(function, backend="xla")(X), X[1:, :2])
    np.testing.assert_array_equal(function(X), X[1:, :2])


def test_gradient_of_windows_that_remove_elements() -> None:
    found = jit(grad(lambda x: REDUCTIONS["max"](x).sum()), backend="xla")(X)
    expected = np.zeros((3, 4))
    expected[1:, :2] = 1
    np.testing.assert_array_equal(found, expected)
