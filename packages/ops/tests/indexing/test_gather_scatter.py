"""Gather, scatter and dynamic slices: cases that their declarations do not draw, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, MissingRuleError, Zero, get_aval

ROWS = ops.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
TO_ROWS = ops.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)
x = np.arange(12.0).reshape(4, 3)
at = np.array([[1], [9], [-1]])


def test_gather_and_scatter_modes_out_of_bounds() -> None:
    np.testing.assert_array_equal(ops.gather(x, at, ROWS, (1, 3), mode="clip"), x[[1, 3, 0]])
    np.testing.assert_array_equal(ops.gather(x, at, ROWS, (1, 3)), x[[1, 3, 0]], "promise_in_bounds clips")
    np.testing.assert_array_equal(
        ops.gather(x, at, ROWS, (1, 3), mode=ops.GatherScatterMode.FILL_OR_DROP), [x[1], [np.nan] * 3, [np.nan] * 3]
    )
    np.testing.assert_array_equal(ops.gather(x, at, ROWS, (1, 3), mode="fill", fill_value=7)[1:], np.full((2, 3), 7.0))
    for mode in ("drop", None, "promise_in_bounds"):
        np.testing.assert_array_equal(ops.scatter_add(x, at, np.ones((3, 3)), TO_ROWS, mode=mode)[[0, 3]], x[[0, 3]])
    clipped = ops.scatter_add(x, at, np.ones((3, 3)), TO_ROWS, mode="clip")
    np.testing.assert_array_equal(clipped, x + np.array([[1], [1], [0], [1]]))


def test_gather_fill_value_has_no_derivative() -> None:
    rule = ops.gather_p.rule("jvp")
    params = {"dimension_numbers": tuple(ROWS), "slice_sizes": (1, 3), "mode": "fill_or_drop", "fill_value": 5.0}
    params |= {"unique_indices": False, "indices_are_sorted": False}
    ans, tangent = rule((x, at), (np.ones_like(x), Zero(get_aval(at))), **params)
    np.testing.assert_array_equal(ans[1], [5.0] * 3)
    np.testing.assert_array_equal(tangent, [[1.0] * 3, [0.0] * 3, [0.0] * 3])


def test_gather_fill_value_of_nan_is_the_default() -> None:
    got = ops.gather(x.astype(np.float32), at, ROWS, (1, 3), mode="fill", fill_value=np.nan)
    assert got.dtype == np.float32
    assert np.isnan(got[1:]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "int64"])
def test_gather_indices_of_every_dtype_in_long_arrays(dtype: str) -> None:
    long = np.arange(300)
    last = np.array([np.iinfo(dtype).max, 0], dtype)
    want = long[[min(int(last[0]), 299), 0]]
    numbers = ops.GatherDimensionNumbers((), (0,), (0,))
    np.testing.assert_array_equal(ops.gather(long, last[:, None], numbers, (1,), mode="clip"), want)


def test_scatter_add_of_integers_wraps_as_numpy() -> None:
    small = np.array([250, 0], np.uint8)
    numbers = ops.ScatterDimensionNumbers((), (0,), (0,))
    out = ops.scatter_add(small, np.array([[0], [0]]), np.array([5, 5], np.uint8), numbers)
    np.testing.assert_array_equal(out, np.array([4, 0], np.uint8))


@pytest.mark.parametrize(
    ("numbers", "sizes", "expected"),
    [
        (ROWS, (1,), "as many slice_sizes"),
        (ROWS, (2, 3), "length 1"),
        (ROWS, (1, 4), "fit into the operand"),
        (ROWS._replace(start_index_map=(0, 1)), (1, 3), "one for each of its numbers"),
        (ROWS._replace(offset_dims=(5,)), (1, 3), "offset_dims"),
        (ROWS._replace(offset_dims=()), (1, 3), "a dimension of each window"),
        (ROWS._replace(operand_batching_dims=(1,)), (1, 3), "as many different dimensions of the indices"),
    ],
)
def test_gather_refuses_dimension_numbers(numbers: Any, sizes: Any, expected: str, strictly: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentTypeError, match=f"gather: expected .*{expected}"):
            ops.gather(x, at, numbers, sizes)


def test_gather_and_scatter_errors(strictly: Any) -> None:
    with strictly():
        with pytest.raises(ArgumentTypeError, match="integers as indices"):
            ops.gather(x, at * 1.0, ROWS, (1, 3))
        with pytest.raises(ArgumentTypeError, match="updates of the operand's dtype"):
            ops.scatter(x, at, np.ones((3, 3), np.float32), TO_ROWS)
        with pytest.raises(ArgumentTypeError, match=r"updates of shape \(3, 3\)"):
            ops.scatter(x, at, np.ones((2, 3)), TO_ROWS)
        with pytest.raises(ArgumentTypeError, match="scatter_min"):
            ops.scatter_min(x * 1j, at, np.ones((3, 3)) * 1j, TO_ROWS)
    with pytest.raises(ArgumentValueError, match="mode: expected 'clip'"):
        ops.gather(x, at, ROWS, (1, 3), mode="wrap")
    with pytest.raises(ArgumentTypeError, match=r"make them with lawful\.ops\.GatherDimensionNumbers"):
        ops.gather(x, at, ((1,), (0,), (0,)), (1, 3))  # type: ignore[arg-type]


def test_scatter_mul_jvp_needs_unique_indices() -> None:
    """The jvp of scatter_mul is defined only with `unique_indices=True`."""
    params = {"dimension_numbers": tuple(TO_ROWS), "indices_are_sorted": False, "mode": "clip"}
    primals = (x, at, np.ones((3, 3)))
    tangents = (Zero(get_aval(x)), Zero(get_aval(at)), np.ones((3, 3)))
    with pytest.raises(MissingRuleError, match="unique_indices=True"):
        ops.scatter_mul_p.rule("jvp")(primals, tangents, unique_indices=False, **params)


def test_dynamic_slice_start_out_of_bounds() -> None:
    """A negative start counts from the end; a slice that would reach outside is moved inside."""
    row = np.arange(10)
    for start, want in (
        (7, [6, 7, 8, 9]),
        (-3, [6, 7, 8, 9]),
        (-10, [0, 1, 2, 3]),
        (-11, [0, 1, 2, 3]),
        (2, [2, 3, 4, 5]),
    ):
        for given in (start, np.int8(start), np.array(start, np.int32)):
            np.testing.assert_array_equal(ops.dynamic_slice(row, (given,), (4,)), want)
            np.testing.assert_array_equal(ops.dynamic_slice_in_dim(row, given, 4), want)
    np.testing.assert_array_equal(ops.dynamic_slice(row, (-3,), (4,), allow_negative_indices=False), [0, 1, 2, 3])
    np.testing.assert_array_equal(ops.dynamic_slice(row, np.array([2]), (4,)), [2, 3, 4, 5])
    np.testing.assert_array_equal(ops.dynamic_index_in_dim(x, np.int8(-1), 1, keepdims=False), x[:, -1])
    np.testing.assert_array_equal(ops.dynamic_update_index_in_dim(row, 0, 9, 0), [*range(9), 0])
    np.testing.assert_array_equal(ops.dynamic_update_slice_in_dim(row, np.zeros(2, int), 9, 0), [*range(8), 0, 0])
    assert ops.dynamic_slice(np.float32(3.0), (), ()) == 3.0


def test_dynamic_slice_small_dtypes_in_long_dimensions(strictly: Any) -> None:
    long = np.arange(300)
    for stages in (False, True):
        with strictly(stages=stages):
            np.testing.assert_array_equal(ops.dynamic_slice(long, (np.int8(-1),), (1,)), [299])
            np.testing.assert_array_equal(ops.dynamic_slice(long, (np.uint8(255),), (1,)), [255])


def test_dynamic_slice_errors(strictly: Any) -> None:
    row = np.arange(3)
    with strictly():
        with pytest.raises(ArgumentTypeError, match="not longer"):
            ops.dynamic_slice(row, (0,), (4,))
        with pytest.raises(ArgumentTypeError, match="integer scalars as start_indices"):
            ops.dynamic_slice(row, (0.5,), (1,))
        with pytest.raises(ArgumentValueError, match="an index for each of 1"):
            ops.dynamic_slice(row, (0, 0), (1,))
        with pytest.raises(ArgumentTypeError, match="operand's dtype"):
            ops.dynamic_update_slice(row, np.zeros(2), (0,))


def test_take_and_put_equal_numpy() -> None:
    y = np.array([[3, 1, 2], [4, 6, 5]])
    order = np.argsort(y, axis=1)
    np.testing.assert_array_equal(ops.take_along_axis(y, order, 1), np.sort(y, axis=1))
    np.testing.assert_array_equal(ops.take_along_axis(y, np.array([5, 0]), None), [5, 3])
    np.testing.assert_array_equal(ops.take(y, np.array([[0, -1]]), 1), np.take(y, [[0, -1]], 1))
    np.testing.assert_array_equal(ops.take(y, 4), np.take(y, 4))
    for mode in ("wrap", "clip"):
        np.testing.assert_array_equal(ops.take(y, np.array([-7, 8]), mode=mode), np.take(y, [-7, 8], mode=mode))
    written = ops.put_along_axis(y, order[:, :1], 0, 1, inplace=False)
    np.testing.assert_array_equal(written, [[3, 0, 2], [0, 6, 5]])
    for bad in (lambda: ops.take(y, np.array([6])), lambda: ops.take_along_axis(y, order + 3, 1)):
        with pytest.raises(IndexError):
            bad()
    with pytest.raises(ValueError, match="inplace=False"):
        ops.put_along_axis(y, order, 0, 1)
