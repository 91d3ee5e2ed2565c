"""Reductions of windows: values, padding by name, types and errors."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import LawfulError

X = np.arange(20.0).reshape(4, 5) % 7


def test_reduce_window_two_by_two():
    blocks = X[:4, :4].reshape(2, 2, 2, 2)
    for function, expected in (
        (ops.reduce_window_sum, blocks.sum((1, 3))),
        (ops.reduce_window_max, blocks.max((1, 3))),
        (ops.reduce_window_min, blocks.min((1, 3))),
    ):
        np.testing.assert_array_equal(function(X, (2, 2), (2, 2)), expected)


def test_reduce_window_padding_by_name():
    assert ops.padtype_to_pads((5, 4), (2, 2), (2, 1), "SAME") == [(0, 1), (0, 1)]
    assert ops.padtype_to_pads((5, 4), (2, 2), (2, 1), "same_lower") == [(1, 0), (1, 0)]
    assert ops.padtype_to_pads((5,), (9,), (1,), "VALID") == [(0, 0)]
    assert ops.reduce_window_sum(X, (3, 3), (2, 2), "SAME").shape == (2, 3)
    assert ops.reduce_window_sum(X, (5, 3)).shape == (0, 3)


def test_reduce_window_dilations():
    np.testing.assert_array_equal(ops.reduce_window_sum(np.arange(6.0), (2,), window_dilation=(3,)), [3, 5, 7])
    np.testing.assert_array_equal(ops.reduce_window_max(np.array([3, 5]), (1,), base_dilation=(2,))[::2], [3, 5])


def test_reduce_window_sum_adds_in_float32():
    ones = np.ones(4096, "float16")
    assert ops.reduce_window_sum(ones, (4096,))[0] == 4096
    assert ops.reduce_window_sum(ones.astype("bfloat16"), (257,))[0] == 256  # bfloat16 cannot represent 257


def test_reduce_window_max_derivative_of_ties():
    x = np.array([1.0, 3.0, 3.0, 2.0])
    t = np.array([10.0, 20.0, 30.0, 40.0])
    np.testing.assert_array_equal(ops.select_and_gather_add(t, x, "ge", (3,)), [20, 20])
    np.testing.assert_array_equal(ops.select_and_scatter_add(np.array([1.0, 5.0]), x, "ge", (3,)), [0, 6, 0, 0])
    np.testing.assert_array_equal(ops.select_and_gather_add(t, x, "le", (3,)), [10, 40])


def test_reduce_window_max_does_not_select_padding():
    x = np.array([-np.inf, np.nan])
    assert ops.select_and_gather_add(np.array([1.0, 2.0]), x, "ge", (2,), padding=((2, 1),)).tolist() == [0, 1, 2, 2]


def test_reduce_window_of_scalars_and_no_elements():
    assert ops.reduce_window_max(np.array(2.0), ()) == 2
    np.testing.assert_array_equal(ops.reduce_window_max(np.zeros(0, "int8"), (1,), padding=((1, 1),)), [-128, -128])


ERRORS = {
    "number of lengths": (lambda: ops.reduce_window_sum(X, (2,)), ValueError),
    "number of strides": (lambda: ops.reduce_window_sum(X, (2, 2), (1,)), ValueError),
    "length": (lambda: ops.reduce_window_sum(X, (2, 0)), ValueError),
    "stride": (lambda: ops.reduce_window_sum(X, (2, 2), (1, 0)), ValueError),
    "dilation": (lambda: ops.reduce_window_sum(X, (2, 2), base_dilation=(0, 1)), ValueError),
    "not integers": (lambda: ops.reduce_window_sum(X, (2.5, 2)), TypeError),
    "name of padding": (lambda: ops.reduce_window_sum(X, (2, 2), padding="EDGE"), ValueError),
    "pairs": (lambda: ops.reduce_window_sum(X, (2, 2), padding=((1, 1),)), ValueError),
    "drops too much": (lambda: ops.reduce_window_sum(X, (2, 2), padding=((-3, -2), (0, 0))), ValueError),
    "bool": (lambda: ops.reduce_window_sum(X > 1, (2, 2)), TypeError),
    "complex": (lambda: ops.reduce_window_max(X + 1j, (2, 2)), TypeError),
    "comparison": (lambda: ops.select_and_gather_add(X, X, "gt", (2, 2)), ValueError),
    "shapes": (lambda: ops.select_and_gather_add(X[:2], X, "ge", (2, 2)), TypeError),
    "source": (lambda: ops.select_and_scatter_add(X, X, "ge", (2, 2)), TypeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_reduce_window_errors(name: str):
    call, cls = ERRORS[name]
    with pytest.raises(cls, match="expected") as error:
        call()
    assert isinstance(error.value, LawfulError)
